/**
 * What an operator says of one value. Values have the types of JSON: 1 is not "1". Headers, queries
 * and forms have text alone, so there "1" is 1 for a condition whose value is a number.
 */
import type { Condition, Operator } from './condition.ts'
import { sameJson } from './json.ts'
import { compilePattern } from './pattern.ts'
import type { Work } from './work.ts'

/** Those that say something of a value; the others say that there is one, or that another is wrong. */
export type ValueOperator = Exclude<Operator, 'exists' | `not_${string}`>

export type ValueTest = (value: unknown, isTyped: boolean, work: Work) => boolean

export function valueTest(
  operator: ValueOperator,
  { value: expected }: Pick<Condition, 'value'>,
): ValueTest {
  switch (operator) {
    case 'equals':
      return (value, isTyped, work) => isSame(value, expected, isTyped, work)
    case 'in':
      return (value, isTyped, work) =>
        (expected as unknown[]).some((choice) => isSame(value, choice, isTyped, work))
    case 'contains':
      return (value, isTyped, work) => contains(value, expected, isTyped, work)
    case 'starts_with':
      return onText((text) => text.startsWith(String(expected)))
    case 'ends_with':
      return onText((text) => text.endsWith(String(expected)))
    case 'regex': {
      const pattern = compilePattern(String(expected))
      return onText((text, work) => pattern.test(text, work))
    }
    case 'gt':
      return ordered(expected, (order) => order > 0)
    case 'gte':
      return ordered(expected, (order) => order >= 0)
    case 'lt':
      return ordered(expected, (order) => order < 0)
    case 'lte':
      return ordered(expected, (order) => order <= 0)
  }
}

function isSame(value: unknown, expected: unknown, isTyped: boolean, work: Work): boolean {
  return sameJson(isTyped ? value : readAs(expected, value), expected, work)
}

/** Text in text, or an element in a list. */
function contains(value: unknown, expected: unknown, isTyped: boolean, work: Work): boolean {
  if (typeof value === 'string') {
    work.spend(1 + value.length / 64)
    return typeof expected === 'string' && value.includes(expected)
  }
  return Array.isArray(value) && value.some((one) => isSame(one, expected, isTyped, work))
}

function onText(test: (text: string, work: Work) => boolean): ValueTest {
  return (value, _isTyped, work) => {
    work.spend(1)
    return typeof value === 'string' && test(value, work)
  }
}

/** Numbers among numbers, text among text (by code units, as dates of ISO 8601 sort); never mixed. */
function ordered(expected: unknown, fits: (order: number) => boolean): ValueTest {
  return (value, isTyped, work) => {
    work.spend(1)
    const actual = isTyped ? value : readAs(expected, value)
    if (typeof actual === 'number' && typeof expected === 'number') return fits(actual - expected)
    if (typeof actual !== 'string' || typeof expected !== 'string') return false
    return fits(actual < expected ? -1 : actual > expected ? 1 : 0)
  }
}

/** Text as the type that is expected of it, if it is written so. */
function readAs(expected: unknown, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (typeof expected === 'number' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) {
    return Number(value)
  }
  if (typeof expected === 'boolean' && (value === 'true' || value === 'false')) {
    return value === 'true'
  }
  return value
}
