/**
 * Finds where the parts of a JSON text begin and end, without parsing their values. A part that is
 * copied as text keeps all digits of its numbers, which JavaScript would round. Nothing here
 * recurses, so the text may be nested to any depth. It must be valid JSON.
 */

/**
 * The members of an object; undefined for other values. The last of two equal names counts.
 * `onPart` is called before each part and may throw.
 */
export function membersOf(text: string, onPart: () => void): Map<string, string> | undefined {
  if (!text.startsWith('{')) return undefined
  const members = new Map<string, string>()
  for (let at = afterSpace(text, 1); text[at] !== '}'; at = nextPart(text, at)) {
    onPart()
    const endOfName = endOfString(text, at)
    const name = JSON.parse(text.slice(at, endOfName)) as string
    const start = afterSpace(text, afterSpace(text, endOfName) + 1)
    at = endOfValue(text, start)
    members.set(name, text.slice(start, at))
  }
  return members
}

/** The elements of a list; undefined for other values. `onPart` as above. */
export function elementsOf(text: string, onPart: () => void): string[] | undefined {
  if (!text.startsWith('[')) return undefined
  const elements: string[] = []
  for (let at = afterSpace(text, 1); text[at] !== ']'; at = nextPart(text, at)) {
    onPart()
    const start = at
    at = endOfValue(text, start)
    elements.push(text.slice(start, at))
  }
  return elements
}

/** The position of the next part, or of the closing bracket. */
function nextPart(text: string, at: number): number {
  const end = afterSpace(text, at)
  return text[end] === ',' ? afterSpace(text, end + 1) : end
}

const SPACE = /[ \t\n\r]*/y
const SCALAR = /[^\s,\]}]+/y
const QUOTE = 0x22
const OPENING = 0x7b
const CLOSING = 0x7d

function afterSpace(text: string, at: number): number {
  SPACE.lastIndex = at
  SPACE.test(text)
  return SPACE.lastIndex
}

function endOfValue(text: string, start: number): number {
  const first = text[start]
  if (first === '"') return endOfString(text, start)
  if (first === '{' || first === '[') return endOfContainer(text, start)
  SCALAR.lastIndex = start
  SCALAR.test(text)
  return SCALAR.lastIndex
}

function endOfContainer(text: string, start: number): number {
  let depth = 0
  let at = start
  do {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = endOfString(text, at)
    else {
      // Brackets and braces differ only in this bit.
      const bracket = code | 0x20
      if (bracket === OPENING) depth += 1
      else if (bracket === CLOSING) depth -= 1
      at += 1
    }
  } while (depth > 0)
  return at
}

function endOfString(text: string, start: number): number {
  let quote = start
  do quote = text.indexOf('"', quote + 1)
  while (isEscaped(text, quote))
  return quote + 1
}

function isEscaped(text: string, quote: number): boolean {
  let backslashes = 0
  while (text[quote - 1 - backslashes] === '\\') backslashes += 1
  return backslashes % 2 === 1
}
