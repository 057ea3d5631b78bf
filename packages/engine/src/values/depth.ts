/**
 * Limits of every traversal of a value: 32 levels, and as many parts as fit into the largest request. The
 * first stops at a value that contains itself; the second at a small value that repeats one object many
 * times on several levels.
 */
import { validationError } from '../errors.ts'
import { isMap, type Value } from './types.ts'

export const MAX_DEPTH = 32

const TOO_DEEP = 'Nesting Levels have exceeded supported limits'

/** For a value in a request; AWS has a shorter message for a result of an update. */
export function tooDeep() {
  return validationError(
    `${TOO_DEEP}: Attributes in the item have nested levels beyond supported limit`,
  )
}

/** Counts the parts of a value while it is checked; each has at least one byte in an item. */
export class PartBudget {
  #left = 2 * 1024 * 1024

  spend(): void {
    if (--this.#left < 0) {
      throw validationError('Item size has exceeded the maximum allowed size')
    }
  }
}

/** Rejects a value that would exceed 32 levels when placed on the given level. */
export function assertDepth(value: Value, level: number): void {
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) {
    if (value.length > 0 && level >= MAX_DEPTH) throw validationError(TOO_DEEP)
    for (const element of value) assertDepth(element, level + 1)
  } else if (isMap(value)) {
    for (const name of Object.keys(value)) {
      if (level >= MAX_DEPTH) throw validationError(TOO_DEEP)
      assertDepth(value[name] as Value, level + 1)
    }
  }
}
