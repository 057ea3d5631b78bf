/**
 * The document paths that expressions read, to hold them against a table's keys and an index's
 * projection. Expressions nest no deeper than their parsers allow.
 */
import { validationError } from '../errors.ts'
import type { Assigned } from '../expressions/bind-update.ts'
import type { Condition } from '../expressions/condition.ts'
import type { Operand } from '../expressions/operands.ts'
import type { Path } from '../expressions/paths.ts'
import type { Projection } from '../expressions/projection.ts'
import type { Update } from '../expressions/update.ts'
import type { TableRecord } from '../storage/store.ts'
import { keyAttributes } from '../validation/keys.ts'

/** The top-level attributes a condition looks at. */
export function conditionNames(condition: Condition | undefined): string[] {
  return [...new Set(condition ? conditionPaths(condition).map(([name]) => String(name)) : [])]
}

interface Expressions {
  condition?: Condition | undefined
  projection?: Projection | undefined
  update?: Update | undefined
}

/** A key is a string, a number or a binary: there is nothing inside it. */
export function refusePathsIntoKeys(table: TableRecord, expressions: Expressions): void {
  const { condition, projection, update } = expressions
  if (!condition && !projection && !update) return
  const nested = new Set<string>()
  for (const path of pathsOf(expressions)) if (path.length > 1) nested.add(String(path[0]))
  if (nested.size === 0) return
  for (const { name } of keyAttributes(table.keys))
    if (nested.has(name)) throw notScalar('Key', name)
  for (const { keys } of table.indexes) {
    for (const { name } of keyAttributes(keys)) {
      if (nested.has(name)) throw notScalar('IndexKey', name)
    }
  }
}

function notScalar(kind: 'Key' | 'IndexKey', name: string): Error {
  return validationError(
    `Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ${kind}: ${name}`,
  )
}

function pathsOf({ condition, projection, update }: Expressions): Path[] {
  const paths: Path[] = condition ? conditionPaths(condition) : []
  if (projection) paths.push(...projection.paths)
  if (update) {
    paths.push(...update.paths)
    for (const action of update.actions) {
      if (action.type === 'SET') paths.push(...assignedPaths(action.assigned))
    }
  }
  return paths
}

function conditionPaths(condition: Condition): Path[] {
  switch (condition.type) {
    case 'and':
    case 'or':
      return condition.conditions.flatMap(conditionPaths)
    case 'not':
      return conditionPaths(condition.condition)
    case 'exists':
      return [condition.path]
    case 'attribute_type':
      return operandPaths(condition.operand)
    case 'in':
      return [condition.operand, ...condition.choices].flatMap(operandPaths)
    case 'between':
      return [condition.operand, condition.low, condition.high].flatMap(operandPaths)
    default:
      return [condition.left, condition.right].flatMap(operandPaths)
  }
}

function operandPaths(operand: Operand): Path[] {
  if (operand.type === 'path') return [operand.path]
  return operand.type === 'size' ? operandPaths(operand.of) : []
}

function assignedPaths(assigned: Assigned): Path[] {
  switch (assigned.type) {
    case 'path':
      return [assigned.path]
    case 'value':
      return []
    case 'if_not_exists':
      return [assigned.path, ...assignedPaths(assigned.otherwise)]
    default:
      return [...assignedPaths(assigned.left), ...assignedPaths(assigned.right)]
  }
}
