/** Depth and equality of JSON values that users provide. */
import type { Budget } from './budget.ts'

/**
 * How deeply the value of a condition or a constant of a transform may be nested. The recursive
 * functions below need a bound that does not depend on the stack of the runtime.
 */
export const MAX_VALUE_DEPTH = 16

/** Does not recurse, so it is safe for a value of any depth. A scalar has depth 0. */
export function isDeeperThan(value: unknown, maxDepth: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > maxDepth) return true
    level = level.flatMap((inner) =>
      typeof inner === 'object' && inner !== null ? (Object.values(inner) as unknown[]) : [],
    )
  }
  return false
}

/** Recurses as deep as `value`, which must not be deeper than `MAX_VALUE_DEPTH`. */
export function hasNumber(value: unknown, test: (number: number) => boolean): boolean {
  if (typeof value === 'number') return test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => hasNumber(inner, test))
}

/**
 * Compares two JSON values; the order of object keys does not matter. Recurses as deep as
 * `expected`, which must not be deeper than `MAX_VALUE_DEPTH`; `actual` may have any depth.
 */
export function jsonEquals(actual: unknown, expected: unknown, budget: Budget): boolean {
  budget.spend(1 + sharedUnits(actual, expected))
  if (typeof actual !== 'object' || typeof expected !== 'object') return actual === expected
  if (actual === null || expected === null) return actual === expected
  if (Array.isArray(actual) || Array.isArray(expected)) {
    if (!Array.isArray(actual) || !Array.isArray(expected)) return false
    if (actual.length !== expected.length) return false
    return expected.every((value, index) => jsonEquals(actual[index], value, budget))
  }
  const [left, right] = [actual, expected] as [Record<string, unknown>, Record<string, unknown>]
  const names = Object.keys(right)
  return (
    memberCount(left) === names.length &&
    names.every((name) => Object.hasOwn(left, name) && jsonEquals(left[name], right[name], budget))
  )
}

/** Counting the members of a large object takes long, and conditions ask again and again. */
const largeObjects = new WeakMap<object, number>()
const LARGE_OBJECT_MEMBERS = 32

export function memberCount(value: object): number {
  const known = largeObjects.get(value)
  if (known !== undefined) return known
  const { length } = Object.keys(value)
  if (length >= LARGE_OBJECT_MEMBERS) largeObjects.set(value, length)
  return length
}

/** Texts of the same length are compared up to their first difference. */
function sharedUnits(actual: unknown, expected: unknown): number {
  if (typeof actual !== 'string' || typeof expected !== 'string') return 0
  return actual.length === expected.length ? actual.length / 64 : 0
}
