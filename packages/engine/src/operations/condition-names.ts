/** The top-level attributes a condition looks at, to hold them against keys and projections. */
import type { Condition } from '../expressions/condition.ts'
import type { Operand } from '../expressions/operands.ts'

export function conditionNames(condition: Condition | undefined): string[] {
  const names = new Set<string>()
  if (condition) collect(condition, names)
  return [...names]
}

/** Conditions nest no deeper than their parser allows. */
function collect(condition: Condition, names: Set<string>): void {
  switch (condition.type) {
    case 'and':
    case 'or':
      for (const part of condition.conditions) collect(part, names)
      return
    case 'not':
      return collect(condition.condition, names)
    case 'exists':
      names.add(String(condition.path[0]))
      return
    case 'attribute_type':
      return collectOperands([condition.operand], names)
    case 'in':
      return collectOperands([condition.operand, ...condition.choices], names)
    case 'between':
      return collectOperands([condition.operand, condition.low, condition.high], names)
    default:
      collectOperands([condition.left, condition.right], names)
  }
}

function collectOperands(operands: readonly Operand[], names: Set<string>): void {
  for (const operand of operands) {
    if (operand.type === 'path') names.add(String(operand.path[0]))
    else if (operand.type === 'size') collectOperands([operand.of], names)
  }
}
