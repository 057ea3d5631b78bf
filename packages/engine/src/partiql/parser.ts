/**
 * The common part of the PartiQL parsers: a cursor over the tokens, names, paths, values and operands.
 *
 * Statements are parsed by recursive descent. Brackets nest at most MAX_NESTING deep, so no statement
 * can exhaust the stack.
 */
import { type DynamoError, validationError } from '../errors.ts'
import type { CallSyntax, OperandSyntax, PathSyntax } from '../expressions/syntax.ts'
import { setOf, type Member } from '../values/sets.ts'
import { parseNumber } from '../values/numbers.ts'
import { checkAttributeName, type Item, setAttribute, typeOf, type Value } from '../values/types.ts'
import { isKeyword, type Token, tokensOf } from './tokens.ts'
import type { Literal } from './syntax.ts'

const MAX_NESTING = 64
const MAX_INDEX = 2 ** 31 - 1

export class StatementParser {
  readonly names: string[] = []
  readonly literals: Literal[] = []
  parameters = 0
  readonly #tokens: Token[]
  #position = 0
  #nesting = 0

  constructor(statement: string) {
    this.#tokens = tokensOf(statement)
  }

  get token(): Token {
    return this.#at(this.#position)
  }

  take(): Token {
    const { token } = this
    this.#position += 1
    return token
  }

  is(symbol: string): boolean {
    return this.token.kind === 'symbol' && this.token.text === symbol
  }

  /** Whether the current token, or the one `offset` tokens later, is this keyword. */
  isWord(word: string, ahead = 0): boolean {
    const { kind, text } = this.#at(this.#position + ahead)
    return kind === 'word' && text.toLowerCase() === word
  }

  skip(symbol: string): boolean {
    if (!this.is(symbol)) return false
    this.#position += 1
    return true
  }

  skipWord(...words: string[]): boolean {
    if (!words.every((word, ahead) => this.isWord(word, ahead))) return false
    this.#position += words.length
    return true
  }

  expect(symbol: string): void {
    if (!this.skip(symbol)) throw this.malformed()
  }

  expectWord(...words: string[]): void {
    if (!this.skipWord(...words)) throw this.malformed()
  }

  /** A name, with or without double quotes. */
  name(): string {
    const { kind, text } = this.token
    if (kind === 'name') {
      if (text === '') throw validationError('Path component cannot be an empty string')
    } else if (kind !== 'word' || isKeyword(text.toLowerCase())) {
      throw this.malformed()
    }
    this.#position += 1
    return text
  }

  path(): PathSyntax {
    const parts: (string | number | bigint)[] = [this.#placeName(this.name())]
    for (;;) {
      if (this.skip('.')) {
        parts.push(this.#placeName(this.name()))
      } else if (this.skip('[')) {
        parts.push(this.#step())
        this.expect(']')
      } else {
        return { type: 'path', parts }
      }
    }
  }

  /** The content of brackets in a path: an index, or a name as text. */
  #step(): string | number | bigint {
    const { kind, text } = this.take()
    if (kind === 'string') return this.#placeName(text)
    if (kind !== 'number' || !/^\d+$/.test(text)) throw this.malformed(-1)
    return Number(text) <= MAX_INDEX ? Number(text) : BigInt(text)
  }

  #placeName(name: string): string {
    return `#${this.names.push(name) - 1}`
  }

  operand(): OperandSyntax {
    if (this.skip('(')) {
      const inner = this.nested(() => this.operand())
      this.expect(')')
      return inner
    }
    const { kind, text } = this.token
    const next = this.#at(this.#position + 1)
    if (kind === 'word' && next.kind === 'symbol' && next.text === '(') {
      return this.call(text.toLowerCase())
    }
    if (kind === 'name' || (kind === 'word' && !isKeyword(text.toLowerCase()))) return this.path()
    return { type: 'value', placeholder: `:${this.literals.push(this.literal()) - 1}` }
  }

  call(name: string): CallSyntax {
    if (!FUNCTIONS.has(name)) throw validationError(`Unrecognized function: ${name}`)
    this.take()
    this.expect('(')
    const operands = this.nested(() => this.list(() => this.operand()))
    this.expect(')')
    return { type: 'call', name, operands }
  }

  /** One or more, separated by commas. */
  list<T>(parse: () => T): T[] {
    const elements = [parse()]
    while (this.skip(',')) elements.push(parse())
    return elements
  }

  nested<T>(parse: () => T): T {
    this.#nesting += 1
    if (this.#nesting > MAX_NESTING) throw this.malformed()
    const inner = parse()
    this.#nesting -= 1
    return inner
  }

  literal(): Literal {
    if (this.skip('?')) {
      this.parameters += 1
      return { parameter: this.parameters - 1 }
    }
    return { value: this.#value() }
  }

  #value(): Value {
    if (this.is('?')) throw validationError('Unsupported data type: Parameter under key root')
    const { kind, text } = this.take()
    if (kind === 'string') return text
    if (kind === 'number') return parseNumber(text)
    if (kind === 'word') return this.#constant(text)
    if (kind === 'symbol') {
      if (text === '-' && this.token.kind === 'number') return parseNumber(`-${this.take().text}`)
      if (text === '[') return this.#elements(']', () => this.#value())
      if (text === '<<') return this.#bag()
      if (text === '{') return this.#tuple()
    }
    throw this.malformed(-1)
  }

  #constant(word: string): Value {
    switch (word.toLowerCase()) {
      case 'true':
        return true
      case 'false':
        return false
      case 'null':
        return null
      case 'missing':
        throw validationError('Unsupported data type: MISSING under key root')
      default:
        if (isKeyword(word.toLowerCase())) throw this.malformed(-1)
        throw validationError(`Unsupported data type: ${word} under key root`)
    }
  }

  #elements<T>(end: string, parse: () => T): T[] {
    return this.nested(() => {
      const elements = this.is(end) ? [] : this.list(parse)
      this.expect(end)
      return elements
    })
  }

  #bag(): Value {
    const members = this.#elements('>>', () => this.#value())
    const [type, ...others] = new Set(members.map(typeOf))
    if (type === undefined) throw validationError('Empty bags are not supported')
    if (others.length > 0 || (type !== 'S' && type !== 'N')) {
      throw validationError(
        'Unsupported data type in Bag. DynamoDB only supports either numbers or strings in bags',
      )
    }
    return setOf(`${type}S`, members as Member[])
  }

  #tuple(): Value {
    const map: Item = {}
    for (const [name, value] of this.entries(() => this.#value())) setAttribute(map, name, value)
    return map
  }

  /** The rest of a tuple after its opening brace. */
  entries<T>(parse: () => T): [name: string, value: T][] {
    const names = new Set<string>()
    return this.#elements('}', (): [string, T] => {
      const { kind, text } = this.take()
      if (kind !== 'string') {
        if (kind !== 'name' && kind !== 'word') throw this.malformed(-1)
        throw validationError(
          'Tuple keys must be of type String. Actual type: VariableReference under root',
        )
      }
      checkAttributeName(text)
      if (names.has(text)) {
        throw validationError(`Duplicate keys in tuple. Key: ${text} under root`)
      }
      names.add(text)
      this.expect(':')
      return [text, parse()]
    })
  }

  /** The error for a token that is not allowed there. */
  malformed(offset = 0): DynamoError {
    const { start } = this.#at(this.#position + offset)
    return validationError(
      `Statement wasn't well formed, can't be processed: Unexpected term at character ${start + 1}`,
    )
  }

  #at(position: number): Token {
    return this.#tokens[Math.min(position, this.#tokens.length - 1)] as Token
  }
}

const FUNCTIONS: ReadonlySet<string> = new Set([
  'attribute_exists',
  'attribute_not_exists',
  'attribute_type',
  'begins_with',
  'contains',
  'size',
  'if_not_exists',
  'list_append',
  'set_add',
  'set_delete',
])
