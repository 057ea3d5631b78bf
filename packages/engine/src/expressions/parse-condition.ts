/**
 * Parses conditions: comparisons, BETWEEN, IN and functions, joined by NOT, AND and OR in that order of
 * precedence. A chain of ANDs, ORs or NOTs becomes one node.
 */
import { Parser } from './parser.ts'
import type { Comparator, ConditionSyntax, ExpressionKind, OperandSyntax } from './syntax.ts'
import type { TokenKind } from './tokens.ts'

export function conditionSyntax(kind: ExpressionKind, text: string): ConditionSyntax {
  const parser = new Parser(kind, text)
  const parsed = disjunction(parser)
  if (!isCondition(parsed)) throw parser.syntaxError()
  parser.expect('end')
  return parsed
}

/** The content of parentheses: a condition, or the first operand of a comparison. */
type Parsed = ConditionSyntax | OperandSyntax

/** A single function is parsed as a condition; a later check decides whether it can be one. */
function isCondition(parsed: Parsed): parsed is ConditionSyntax {
  return parsed.type !== 'path' && parsed.type !== 'value'
}

function disjunction(parser: Parser): Parsed {
  return chain(parser, 'OR', conjunction)
}

function conjunction(parser: Parser): Parsed {
  return chain(parser, 'AND', negation)
}

function chain(parser: Parser, keyword: 'AND' | 'OR', parse: (parser: Parser) => Parsed): Parsed {
  const first = parse(parser)
  if (!isCondition(first) || parser.kind !== keyword) return first
  const conditions = [first]
  while (parser.skipIf(keyword)) {
    const next = parse(parser)
    if (!isCondition(next)) throw parser.syntaxError()
    conditions.push(next)
  }
  return { type: keyword === 'AND' ? 'and' : 'or', conditions }
}

function negation(parser: Parser): Parsed {
  let count = 0
  while (parser.skipIf('NOT')) count++
  const condition = term(parser)
  if (count === 0) return condition
  if (!isCondition(condition)) throw parser.syntaxError()
  return { type: 'not', count, condition }
}

function term(parser: Parser): Parsed {
  const first = parser.skipIf('(') ? parser.enclosed(() => disjunction(parser)) : parser.operand()
  return isOperand(first) ? comparison(parser, first) : first
}

function isOperand(parsed: Parsed): parsed is OperandSyntax {
  return parsed.type === 'path' || parsed.type === 'value' || parsed.type === 'call'
}

/** Returns the operand itself if no comparison follows it. */
function comparison(parser: Parser, operand: OperandSyntax): Parsed {
  const kind = parser.kind
  if (COMPARATORS.has(kind)) {
    const comparator = parser.take() as Comparator
    return { type: 'compare', comparator, left: operand, right: parser.operand() }
  }
  if (parser.skipIf('BETWEEN')) {
    const low = parser.operand()
    parser.expect('AND')
    return { type: 'between', operand, low, high: parser.operand() }
  }
  if (parser.skipIf('IN')) {
    parser.expect('(')
    const choices = parser.list(() => parser.operand())
    parser.expect(')')
    return { type: 'in', operand, choices }
  }
  return operand
}

const COMPARATORS: ReadonlySet<TokenKind> = new Set<TokenKind>(['=', '<>', '<', '<=', '>', '>='])
