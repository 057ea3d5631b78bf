/**
 * The common part of the parsers: a cursor over the tokens, syntax errors with AWS's messages, document
 * paths and operands.
 *
 * The parsers use recursive descent. Parentheses nest at most MAX_NESTING deep, which no valid
 * expression reaches: redundant parentheses are rejected, so each level needs one of the 300 operators
 * that an expression may have.
 */
import { type DynamoError, validationError } from '../errors.ts'
import type { CallSyntax, ExpressionKind, OperandSyntax, PathSyntax } from './syntax.ts'
import { type Token, type TokenKind, tokensOf } from './tokens.ts'

const MAX_NESTING = 350
const MAX_BYTES = 4096
const MAX_INDEX = 2 ** 31 - 1

export class Parser {
  readonly #kind: ExpressionKind
  readonly #text: string
  readonly #tokens: Token[]
  #position = 0
  #nesting = 0
  /** Nodes that were enclosed in parentheses. */
  readonly #enclosed = new WeakSet<object>()

  constructor(kind: ExpressionKind, text: string) {
    if (text === '') throw expressionError(kind, 'The expression can not be empty;')
    const bytes = Buffer.byteLength(text)
    if (bytes > MAX_BYTES) {
      throw expressionError(
        kind,
        `Expression size has exceeded the maximum allowed size; expression size: ${bytes}`,
      )
    }
    this.#kind = kind
    this.#text = text
    this.#tokens = tokensOf(text)
  }

  get kind(): TokenKind {
    return this.#token(this.#position).kind
  }

  get nextKind(): TokenKind {
    return this.#token(this.#position + 1).kind
  }

  /** Consumes the current token and returns its text. */
  take(): string {
    const { start, end } = this.#token(this.#position++)
    return this.#text.slice(start, end)
  }

  skipIf(kind: TokenKind): boolean {
    if (this.kind !== kind) return false
    this.#position++
    return true
  }

  expect(kind: TokenKind): string {
    if (this.kind !== kind) throw this.syntaxError()
    return this.take()
  }

  /** Parses the content of parentheses after the opening one, and the closing one. */
  enclosed<T extends object>(parse: () => T): T {
    if (++this.#nesting > MAX_NESTING) throw this.#tooNested()
    const inner = parse()
    this.expect(')')
    this.#nesting--
    if (this.#enclosed.has(inner)) throw this.#redundant()
    this.#enclosed.add(inner)
    return inner
  }

  path(): PathSyntax {
    const parts: (string | number | bigint)[] = [this.#name()]
    for (;;) {
      if (this.skipIf('.')) {
        parts.push(this.#name())
      } else if (this.skipIf('[')) {
        const text = this.expect('number')
        parts.push(Number(text) <= MAX_INDEX ? Number(text) : BigInt(text))
        this.expect(']')
      } else {
        return { type: 'path', parts }
      }
    }
  }

  #name(): string {
    if (this.kind !== 'word' && this.kind !== '#name') throw this.syntaxError()
    return this.take()
  }

  operand(): OperandSyntax {
    if (this.skipIf('(')) return this.enclosed(() => this.operand())
    if (this.kind === ':value') return { type: 'value', placeholder: this.take() }
    if (this.kind === 'word' && this.nextKind === '(') return this.call()
    return this.path()
  }

  call(): CallSyntax {
    const name = this.expect('word')
    this.expect('(')
    if (++this.#nesting > MAX_NESTING) throw this.#tooNested()
    const operands = this.list(() => this.operand())
    this.expect(')')
    this.#nesting--
    return { type: 'call', name, operands }
  }

  /** One or more, separated by commas. */
  list<T>(parse: () => T): T[] {
    const elements = [parse()]
    while (this.skipIf(',')) elements.push(parse())
    return elements
  }

  /** The error for a token that is not allowed here. */
  syntaxError(position = this.#position): DynamoError {
    const token = this.#token(position)
    const from = position > 0 ? this.#token(position - 1).start : 0
    const next = this.#token(position + 1)
    const near = this.#text.slice(from, token.kind === 'end' ? token.end : next.end)
    const word = token.kind === 'end' ? '<EOF>' : this.#text.slice(token.start, token.end)
    return expressionError(this.#kind, `Syntax error; token: "${word}", near: "${near}"`)
  }

  #redundant(): DynamoError {
    return expressionError(this.#kind, 'The expression has redundant parentheses;')
  }

  /** The error for too deep nesting; AWS's message depends on whether the parentheses are balanced. */
  #tooNested(): DynamoError {
    let open = 0
    for (const [position, token] of this.#tokens.entries()) {
      if (token.kind === '(') open++
      if (token.kind === ')' && --open < 0) return this.syntaxError(position)
    }
    return open > 0 ? this.syntaxError(this.#tokens.length - 1) : this.#redundant()
  }

  #token(position: number): Token {
    return this.#tokens[Math.min(position, this.#tokens.length - 1)] as Token
  }
}

export function expressionError(kind: ExpressionKind, message: string): DynamoError {
  return validationError(`Invalid ${kind}: ${message}`)
}
