/**
 * Limits how deep JSON may nest. The checks are not recursive, because they protect recursive code: a
 * value that can be parsed may still be too deep for `JSON.stringify`, depending on the free stack.
 */

/** Counts nested lists and objects, including the outermost. Far below what any stack can hold. */
export const MAX_JSON_DEPTH = 1_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_LIST = 0x5b
const CLOSE_LIST = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Whether JSON, as UTF-8 bytes, nests deeper. The result is meaningless for bytes that are not JSON. */
export function isJsonDeeperThan(json: Uint8Array, maxDepth: number = MAX_JSON_DEPTH): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at]
    if (isInString) {
      if (byte === BACKSLASH) at += 1
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) {
      isInString = true
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1
      if (depth > maxDepth) return true
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      depth -= 1
    }
  }
  return false
}

/** Whether a parsed value nests deeper, which is true for a value that contains itself. */
export function isDeeperThan(value: unknown, maxDepth: number = MAX_JSON_DEPTH): boolean {
  let level = isContainer(value) ? [value] : []
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true
    const next: object[] = []
    for (const container of level) {
      for (const inner of Object.values(container)) if (isContainer(inner)) next.push(inner)
    }
    level = next
  }
  return false
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
