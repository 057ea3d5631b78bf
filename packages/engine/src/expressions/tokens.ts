/**
 * Splits an expression into tokens in one pass.
 *
 * An unknown character becomes a token of its own kind, which the grammar accepts nowhere, so the parser
 * reports it with its position.
 */

export type TokenKind =
  | 'word'
  | '#name'
  | ':value'
  | 'number'
  | 'unknown'
  | 'end'
  | Keyword
  | Symbol

type Keyword = 'AND' | 'OR' | 'NOT' | 'IN' | 'BETWEEN' | 'SET' | 'REMOVE' | 'ADD' | 'DELETE'
type Symbol = '=' | '<>' | '<' | '<=' | '>' | '>=' | '(' | ')' | '[' | ']' | ',' | '.' | '+' | '-'

export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
}

const KEYWORDS: ReadonlySet<string> = new Set<Keyword>([
  'AND',
  'OR',
  'NOT',
  'IN',
  'BETWEEN',
  'SET',
  'REMOVE',
  'ADD',
  'DELETE',
])
const SYMBOLS: ReadonlySet<string> = new Set<Symbol>([
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  '(',
  ')',
  '[',
  ']',
  ',',
  '.',
  '+',
  '-',
])
const MAX_KEYWORD_LENGTH = 7

/** All tokens of the text, followed by one of kind 'end'. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let position = 0
  while (position < text.length) {
    const code = text.charCodeAt(position)
    if (isSpace(code)) {
      position++
      continue
    }
    const token = tokenAt(text, position, code)
    tokens.push(token)
    position = token.end
  }
  tokens.push({ kind: 'end', start: text.length, end: text.length })
  return tokens
}

function tokenAt(text: string, start: number, code: number): Token {
  if (isLetter(code)) {
    const end = endOfWord(text, start + 1)
    return { kind: wordKind(text, start, end), start, end }
  }
  if (isDigit(code)) return { kind: 'number', start, end: endOfNumber(text, start, code) }
  if (code === HASH || code === COLON) {
    const end = endOfWord(text, start + 1)
    if (end === start + 1) return { kind: 'unknown', start, end }
    return { kind: code === HASH ? '#name' : ':value', start, end }
  }
  const pair = text.slice(start, start + 2)
  if (pair.length === 2 && SYMBOLS.has(pair)) return { kind: pair as Symbol, start, end: start + 2 }
  const single = text.charAt(start)
  const kind = SYMBOLS.has(single) ? (single as Symbol) : 'unknown'
  return { kind, start, end: start + 1 }
}

function wordKind(text: string, start: number, end: number): TokenKind {
  if (end - start > MAX_KEYWORD_LENGTH) return 'word'
  const upper = text.slice(start, end).toUpperCase()
  return KEYWORDS.has(upper) ? (upper as Keyword) : 'word'
}

function endOfWord(text: string, from: number): number {
  let end = from
  while (end < text.length && isWordPart(text.charCodeAt(end))) end++
  return end
}

/** A number has no leading zero, so "01" is two tokens. */
function endOfNumber(text: string, start: number, first: number): number {
  let end = start + 1
  if (first === ZERO) return end
  while (end < text.length && isDigit(text.charCodeAt(end))) end++
  return end
}

const HASH = 35
const COLON = 58
const ZERO = 48
const UNDERSCORE = 95

function isSpace(code: number): boolean {
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90)
}

function isWordPart(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === UNDERSCORE
}
