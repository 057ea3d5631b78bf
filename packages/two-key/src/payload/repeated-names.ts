/**
 * Whether an object in a JSON text has a name twice. Of such a name some readers take the first value
 * and others the last; what was parsed has one of them only.
 */
const QUOTE = 0x22
const COLON = 0x3a
const BACKSLASH = 0x5c

/** `value` is what the text was parsed to. */
export function hasRepeatedNames(text: string, value: object): boolean {
  return membersIn(text) !== membersOf(value)
}

/** Outside of strings, every member of an object has one colon. */
function membersIn(text: string): number {
  let members = 0
  let isInString = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) isInString = !isInString
    else if (!isInString) members += code === COLON ? 1 : 0
    else if (code === BACKSLASH) at++
  }
  return members
}

/** Without recursion: a body may be deeper than the stack. */
function membersOf(value: object): number {
  let members = 0
  const left: object[] = [value]
  for (let each = left.pop(); each; each = left.pop()) {
    const inner: unknown[] = Array.isArray(each) ? each : Object.values(each)
    if (inner !== each) members += inner.length
    for (const part of inner) if (typeof part === 'object' && part !== null) left.push(part)
  }
  return members
}
