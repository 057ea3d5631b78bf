/**
 * The checks that depend on the text alone, made once per text: positions of functions, reserved words,
 * list indexes. AWS reports the leftmost mistake, and all of these before it resolves placeholders.
 */
import { expressionError } from './parser.ts'
import { isReserved } from './reserved-words.ts'
import type {
  ConditionSyntax,
  ExpressionKind,
  OperandSyntax,
  PathSyntax,
  UpdateSyntax,
} from './syntax.ts'

const CONDITIONS: ReadonlySet<string> = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
])
const UPDATE_FUNCTIONS: ReadonlySet<string> = new Set(['if_not_exists', 'list_append'])

/** Whether a function is a whole condition or value, or an operand. */
type Place = 'whole' | 'operand'

export function checkConditionSyntax(kind: ExpressionKind, condition: ConditionSyntax): void {
  switch (condition.type) {
    case 'call':
      return checkOperand(kind, condition, 'whole')
    case 'compare':
      checkOperand(kind, condition.left, 'operand')
      return checkOperand(kind, condition.right, 'operand')
    case 'between':
      checkOperand(kind, condition.operand, 'operand')
      checkOperand(kind, condition.low, 'operand')
      return checkOperand(kind, condition.high, 'operand')
    case 'in':
      checkOperand(kind, condition.operand, 'operand')
      for (const choice of condition.choices) checkOperand(kind, choice, 'operand')
      return
    case 'not':
      return checkConditionSyntax(kind, condition.condition)
    case 'and':
    case 'or':
      for (const part of condition.conditions) checkConditionSyntax(kind, part)
  }
}

export function checkUpdateSyntax({ actions, repeatedSection }: UpdateSyntax): void {
  for (const action of actions) {
    checkPath('UpdateExpression', action.path)
    if (action.type !== 'SET') continue
    if (action.value.type === 'arithmetic') {
      checkOperand('UpdateExpression', action.value.left, 'operand')
      checkOperand('UpdateExpression', action.value.right, 'operand')
    } else {
      checkOperand('UpdateExpression', action.value, 'whole')
    }
  }
  if (repeatedSection !== undefined) {
    throw expressionError(
      'UpdateExpression',
      `The "${repeatedSection}" section can only be used once in an update expression;`,
    )
  }
}

export function checkPath(kind: ExpressionKind, { parts }: PathSyntax): void {
  for (const part of parts) {
    if (typeof part === 'string' && isReserved(part)) {
      throw expressionError(kind, `Attribute name is a reserved keyword; reserved keyword: ${part}`)
    }
    if (typeof part === 'bigint') {
      throw expressionError(kind, `List index is not within the allowable range; index: [${part}]`)
    }
  }
}

function checkOperand(kind: ExpressionKind, operand: OperandSyntax, place: Place): void {
  if (operand.type === 'value') return
  if (operand.type === 'path') return checkPath(kind, operand)
  checkFunction(kind, operand.name, place)
  for (const inner of operand.operands) checkOperand(kind, inner, 'operand')
}

function checkFunction(kind: ExpressionKind, name: string, place: Place): void {
  const isUpdate = kind === 'UpdateExpression'
  const isCondition = CONDITIONS.has(name) || name === 'size'
  if (!isCondition && !UPDATE_FUNCTIONS.has(name)) {
    throw expressionError(kind, `Invalid function name; function: ${name}`)
  }
  if (isCondition === isUpdate) {
    const where = isUpdate ? 'an update expression' : 'a condition expression'
    throw expressionError(kind, `The function is not allowed in ${where}; function: ${name}`)
  }
  const isMisused =
    place === 'whole' ? name === 'size' : CONDITIONS.has(name) || name === 'list_append'
  if (isMisused) {
    throw expressionError(
      kind,
      `The function is not allowed to be used this way in an expression; function: ${name}`,
    )
  }
}
