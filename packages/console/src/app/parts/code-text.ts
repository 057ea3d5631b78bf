/** Bodies as lines of text: formatted, as they are, or as bytes. Nothing here is ever markup. */

/** Lines by their index, so that a large body costs only what is in view. */
export interface Lines {
  count: number
  at(index: number): string
}

/** A longer line is continued on the next one, because browsers are slow with very long lines. */
const MAX_LINE_CHARACTERS = 2_000
/** Deeper levels are not indented further, or deep nesting would take quadratic space. */
const MAX_INDENT = 40

export function listLines(lines: readonly string[]): Lines {
  return { count: lines.length, at: (index) => lines[index] ?? '' }
}

export function rawLines(text: string): Lines {
  const lines: string[] = []
  for (const line of text.split(/\r\n|\n|\r/)) {
    for (let from = 0; from === 0 || from < line.length; from += MAX_LINE_CHARACTERS)
      lines.push(line.slice(from, from + MAX_LINE_CHARACTERS))
  }
  return listLines(lines)
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[^\s"{}[\],:]+|[{}[\],:]/g

/**
 * Formats JSON without parsing it to values, so that large numbers and repeated names stay as they are.
 * Undefined if it is not JSON.
 */
export function prettyJson(text: string): Lines | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const lines: string[] = []
  let line = ''
  let depth = 0
  const end = () => {
    for (let from = 0; from === 0 || from < line.length; from += MAX_LINE_CHARACTERS)
      lines.push(line.slice(from, from + MAX_LINE_CHARACTERS))
    line = '  '.repeat(Math.min(depth, MAX_INDENT))
  }
  let previous = ''
  for (const [token] of text.matchAll(TOKEN)) {
    const isClosing = token === '}' || token === ']'
    if (isClosing) depth -= 1
    const isEmpty = isClosing && (previous === '{' || previous === '[')
    if (isClosing ? !isEmpty : previous === '{' || previous === '[') end()
    line += token === ':' ? ': ' : token
    if (token === '{' || token === '[') depth += 1
    if (token === ',') end()
    previous = token
  }
  end()
  return listLines(lines)
}

export function hexLines(bytes: Uint8Array): Lines {
  return {
    count: Math.max(1, Math.ceil(bytes.length / 16)),
    at(index) {
      const part = bytes.subarray(index * 16, index * 16 + 16)
      const hex = Array.from(part, (byte) => byte.toString(16).padStart(2, '0'))
      const left = hex.slice(0, 8).join(' ').padEnd(23)
      const right = hex.slice(8).join(' ').padEnd(23)
      const text = Array.from(part, (byte) =>
        byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·',
      ).join('')
      return `${(index * 16).toString(16).padStart(8, '0')}  ${left}  ${right}  ${text}`
    },
  }
}

export interface TextPart {
  text: string
  /** The class of the colour: key, text, number, word, or note for invisible characters. */
  look?: 'k' | 's' | 'n' | 'w' | 'c'
}

const JSON_PART =
  /("(?:[^"\\]|\\.)*"?)(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g

/** Characters that would hide or reorder text, as their code points. */
const INVISIBLE =
  // oxlint-disable-next-line no-control-regex -- these are what it finds
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export function jsonParts(line: string): TextPart[] {
  const parts: TextPart[] = []
  let from = 0
  for (const match of line.matchAll(JSON_PART)) {
    const [whole, text, colon, number, word] = match
    if (match.index > from) parts.push({ text: line.slice(from, match.index) })
    if (text !== undefined) {
      parts.push({ text, look: colon === undefined ? 's' : 'k' })
      if (colon !== undefined) parts.push({ text: colon })
    } else if (number !== undefined) parts.push({ text: number, look: 'n' })
    else if (word !== undefined) parts.push({ text: word, look: 'w' })
    from = match.index + whole.length
  }
  if (from < line.length) parts.push({ text: line.slice(from) })
  return parts.flatMap(showInvisible)
}

export function showInvisible(part: TextPart): TextPart[] {
  if (part.text.search(INVISIBLE) === -1) return [part]
  const parts: TextPart[] = []
  let from = 0
  for (const { 0: character, index } of part.text.matchAll(INVISIBLE)) {
    if (index > from) parts.push({ ...part, text: part.text.slice(from, index) })
    const code = character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')
    parts.push({ text: `U+${code}`, look: 'c' })
    from = index + 1
  }
  if (from < part.text.length) parts.push({ ...part, text: part.text.slice(from) })
  return parts
}

/** The lines that contain a text, ignoring case; at most the first thousand. */
export function findLines(lines: Lines, wanted: string): number[] {
  const found: number[] = []
  const text = wanted.toLowerCase()
  if (text === '') return found
  for (let index = 0; index < lines.count && found.length < 1_000; index++)
    if (lines.at(index).toLowerCase().includes(text)) found.push(index)
  return found
}
