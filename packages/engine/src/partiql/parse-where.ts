/**
 * Parses WHERE: comparisons, BETWEEN, IN, IS MISSING, IS NULL and functions, joined by NOT, AND and OR in
 * that order of precedence.
 */
import { validationError } from '../errors.ts'
import type { Comparator, ConditionSyntax, OperandSyntax } from '../expressions/syntax.ts'
import type { StatementParser } from './parser.ts'

export function whereClause(parser: StatementParser): ConditionSyntax {
  return asCondition(disjunction(parser))
}

/** The content of parentheses: a condition, or the first operand of a comparison. */
type Parsed = ConditionSyntax | OperandSyntax

function asCondition(parsed: Parsed): ConditionSyntax {
  if (parsed.type !== 'path' && parsed.type !== 'value') return parsed
  throw validationError('WHERE clause must contain an expression that resolves to a boolean')
}

function disjunction(parser: StatementParser): Parsed {
  return chain(parser, 'or', conjunction)
}

function conjunction(parser: StatementParser): Parsed {
  return chain(parser, 'and', negation)
}

function chain(
  parser: StatementParser,
  type: 'and' | 'or',
  parse: (parser: StatementParser) => Parsed,
): Parsed {
  const first = parse(parser)
  if (!parser.isWord(type)) return first
  const conditions = [asCondition(first)]
  while (parser.skipWord(type)) conditions.push(asCondition(parse(parser)))
  return { type, conditions }
}

function negation(parser: StatementParser): Parsed {
  let count = 0
  while (parser.skipWord('not')) count += 1
  const parsed = term(parser)
  return count === 0 ? parsed : { type: 'not', count, condition: asCondition(parsed) }
}

function term(parser: StatementParser): Parsed {
  if (!parser.skip('(')) return comparison(parser, parser.operand())
  const inner = parser.nested(() => disjunction(parser))
  parser.expect(')')
  const isOperand = inner.type === 'path' || inner.type === 'value' || inner.type === 'call'
  return isOperand ? comparison(parser, inner) : inner
}

/** Returns the operand itself if no comparison follows it. */
function comparison(parser: StatementParser, operand: OperandSyntax): Parsed {
  const { kind, text } = parser.token
  if (kind === 'symbol') {
    const comparator = COMPARATORS.get(text)
    if (comparator) {
      parser.take()
      const right = parser.operand()
      refuseArithmetic(parser)
      return { type: 'compare', comparator, left: operand, right }
    }
    refuseArithmetic(parser)
  }
  if (parser.isWord('like')) throw unsupported('like')
  if (parser.skipWord('is')) return nature(parser, operand)
  const isNegated = parser.isWord('not') && (parser.isWord('in', 1) || parser.isWord('between', 1))
  if (isNegated) parser.take()
  const condition = rangeOrChoice(parser, operand)
  if (!condition) return operand
  return isNegated ? { type: 'not', count: 1, condition } : condition
}

const COMPARATORS: ReadonlyMap<string, Comparator> = new Map([
  ['=', '='],
  ['<>', '<>'],
  ['!=', '<>'],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
])
const ARITHMETIC = ['+', '-', '*', '/', '%', '|']

function refuseArithmetic(parser: StatementParser): void {
  const { kind, text } = parser.token
  if (kind === 'symbol' && ARITHMETIC.includes(text)) throw unsupported(text)
}

function unsupported(operator: string): Error {
  return validationError(`Unsupported operator in Condition Expression. Operator: ${operator}`)
}

function rangeOrChoice(
  parser: StatementParser,
  operand: OperandSyntax,
): ConditionSyntax | undefined {
  if (parser.skipWord('between')) {
    const low = parser.operand()
    parser.expectWord('and')
    return { type: 'between', operand, low, high: parser.operand() }
  }
  if (!parser.skipWord('in')) return undefined
  const end = parser.skip('[') ? ']' : parser.skip('(') ? ')' : undefined
  if (end === undefined || parser.is(end) || operand.type === 'value') {
    throw validationError(
      'IN operator must have a left hand argument of type Variable Reference and right hand argument of type Seq with at least one member',
    )
  }
  const choices = parser.nested(() => parser.list(() => parser.operand()))
  parser.expect(end)
  return { type: 'in', operand, choices }
}

/** IS [NOT] MISSING, IS [NOT] NULL. A missing attribute is not NULL. */
function nature(parser: StatementParser, operand: OperandSyntax): ConditionSyntax {
  const isNegated = parser.skipWord('not')
  if (parser.skipWord('missing')) {
    const name = isNegated ? 'attribute_exists' : 'attribute_not_exists'
    return { type: 'call', name, operands: [operand] }
  }
  parser.expectWord('null')
  const placeholder = `:${parser.literals.push({ value: 'NULL' }) - 1}`
  const condition: ConditionSyntax = {
    type: 'call',
    name: 'attribute_type',
    operands: [operand, { type: 'value', placeholder }],
  }
  return isNegated ? { type: 'not', count: 1, condition } : condition
}
