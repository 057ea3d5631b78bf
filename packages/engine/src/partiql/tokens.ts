/**
 * Splits a PartiQL statement into tokens in one pass. An unknown character or an unclosed quote becomes
 * a token of kind 'unknown', which the grammar accepts nowhere.
 */

export type TokenKind = 'word' | 'name' | 'string' | 'number' | 'symbol' | 'unknown' | 'end'

export interface Token {
  readonly kind: TokenKind
  /** A word or number as written; for a quoted token the text between the quotes. */
  readonly text: string
  readonly start: number
}

const PAIRS: ReadonlySet<string> = new Set(['<<', '>>', '<>', '!=', '<=', '>='])
const SINGLES = '=<>()[]{},.:+-*?;/%|'
const SPACE = /\s/
const LETTER = /[A-Za-z_$]/
const WORD = /[A-Za-z0-9_$]*/y
const NUMBER = /(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?/y

export function tokensOf(statement: string): Token[] {
  const tokens: Token[] = []
  let position = skipSpace(statement, 0)
  while (position < statement.length) {
    const { end, ...token } = tokenAt(statement, position)
    tokens.push(token)
    position = skipSpace(statement, end)
  }
  tokens.push({ kind: 'end', text: '', start: statement.length })
  return tokens
}

/** Skips white space and comments. */
function skipSpace(text: string, from: number): number {
  let position = from
  for (;;) {
    if (position < text.length && SPACE.test(text.charAt(position))) {
      position += 1
    } else if (text.startsWith('--', position)) {
      const end = text.indexOf('\n', position)
      position = end < 0 ? text.length : end
    } else if (text.startsWith('/*', position)) {
      const end = text.indexOf('*/', position + 2)
      if (end < 0) return position
      position = end + 2
    } else {
      return position
    }
  }
}

function tokenAt(text: string, start: number): Token & { end: number } {
  const first = text.charAt(start)
  if (LETTER.test(first)) return matchToken('word', WORD, text, start)
  if (/\d/.test(first) || (first === '.' && /\d/.test(text.charAt(start + 1)))) {
    return matchToken('number', NUMBER, text, start)
  }
  if (first === "'" || first === '"') return readQuoted(text, start, first)
  const pair = text.slice(start, start + 2)
  if (PAIRS.has(pair)) return { kind: 'symbol', text: pair, start, end: start + 2 }
  const kind = SINGLES.includes(first) ? 'symbol' : 'unknown'
  return { kind, text: first, start, end: start + 1 }
}

function matchToken(kind: 'word' | 'number', pattern: RegExp, text: string, start: number) {
  pattern.lastIndex = start
  const found = pattern.exec(text)?.[0] ?? ''
  return { kind, text: found, start, end: start + found.length }
}

/** A quote within the text is doubled. */
function readQuoted(text: string, start: number, quote: string): Token & { end: number } {
  let content = ''
  let from = start + 1
  for (;;) {
    const end = text.indexOf(quote, from)
    if (end < 0) return { kind: 'unknown', text: quote, start, end: text.length }
    content += text.slice(from, end)
    if (text.charAt(end + 1) !== quote) {
      return { kind: quote === "'" ? 'string' : 'name', text: content, start, end: end + 1 }
    }
    content += quote
    from = end + 2
  }
}

/** Reserved words of PartiQL; as names of attributes and tables they need double quotes. */

const KEYWORDS: ReadonlySet<string> = new Set(
  `
  absolute action add all allocate alter and any are as asc assertion at authorization avg bag
  begin between bit blob bool boolean by cascade cascaded case cast catalog char char_length
  character check clob close coalesce collate collation column commit conflict connect connection
  constraint constraints continue convert corresponding count create cross current current_date
  cursor date date_add date_diff deallocate dec decimal declare default deferrable deferred delete
  desc describe descriptor diagnostics disconnect distinct do domain double drop else end escape
  except exception exec execute exists external extract false fetch first float for foreign found
  from full get global go goto grant group having identity immediate in index indicator initially
  inner input insensitive insert int integer intersect interval into is isolation join key
  language last left let level like limit list local lower match max min missing modified module
  names national natural nchar new next no not nothing null nullif numeric of old on only open
  option or order outer output overlaps pad partial pivot position precision prepare preserve
  primary prior privileges procedure public read real references relative remove restrict
  returning revoke right rollback rows schema scroll section select session set sexp size smallint
  some space sql sqlcode sqlerror sqlstate string struct substring sum symbol table temporary then
  time timestamp to transaction translate translation trim true tuple union unique unknown unpivot
  update upper usage user using value values varchar varying view when whenever where with work
  write zone
`
    .trim()
    .split(/\s+/),
)

/** In lower case. */
export function isKeyword(word: string): boolean {
  return KEYWORDS.has(word)
}
