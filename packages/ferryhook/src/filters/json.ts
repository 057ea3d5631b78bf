/** JSON values of users: how deep they may be, and when two of them are the same. */
import type { Work } from './work.ts'

/** Without recursion, because it is what keeps others from recursing too deep. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true
    level = level.flatMap((inner) =>
      typeof inner === 'object' && inner !== null ? (Object.values(inner) as unknown[]) : [],
    )
  }
  return false
}

/** As deep as the value is, which must be known not to be too deep. */
export function hasNumber(value: unknown, test: (number: number) => boolean): boolean {
  if (typeof value === 'number') return test(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some((inner) => hasNumber(inner, test))
}

/** As deep as `expected` is, which must be known not to be too deep; the order of names is nothing. */
export function sameJson(actual: unknown, expected: unknown, work: Work): boolean {
  work.spend(1)
  if (typeof actual !== 'object' || typeof expected !== 'object') return actual === expected
  if (actual === null || expected === null) return actual === expected
  if (Array.isArray(actual) || Array.isArray(expected)) {
    if (!Array.isArray(actual) || !Array.isArray(expected)) return false
    if (actual.length !== expected.length) return false
    return expected.every((value, index) => sameJson(actual[index], value, work))
  }
  const names = Object.keys(actual)
  work.spend(names.length)
  const [left, right] = [actual, expected] as [Record<string, unknown>, Record<string, unknown>]
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameJson(left[name], right[name], work))
  )
}
