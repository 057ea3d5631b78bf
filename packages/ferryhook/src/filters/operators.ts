/**
 * What each operator tests, and how a failed test reads. Values have JSON types: 1 is not "1".
 * Headers, queries and forms contain only text, so there "1" equals 1 if the condition has a number.
 */
import type { Budget } from './budget.ts'
import type { Condition, Operator } from './condition.ts'
import { jsonEquals } from './json.ts'
import { compilePattern } from './pattern.ts'

/** The operators that test a value; `exists` tests for its presence, `not_…` negate another. */
export type ValueOperator = Exclude<Operator, 'exists' | `not_${string}`>

export type ValueTest = (value: unknown, isTyped: boolean, budget: Budget) => boolean

export function createOperator(
  operator: ValueOperator,
  { value: expected }: Pick<Condition, 'value'>,
): ValueTest {
  switch (operator) {
    case 'equals':
      return (value, isTyped, budget) => isEqual(value, expected, isTyped, budget)
    case 'in':
      return (value, isTyped, budget) =>
        (expected as unknown[]).some((choice) => isEqual(value, choice, isTyped, budget))
    case 'contains':
      return (value, isTyped, budget) => contains(value, expected, isTyped, budget)
    case 'starts_with':
      return onText((text) => text.startsWith(String(expected)))
    case 'ends_with':
      return onText((text) => text.endsWith(String(expected)))
    case 'regex': {
      const pattern = compilePattern(String(expected))
      return onText((text, budget) => pattern.test(text, budget))
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

const MAX_SHOWN_LENGTH = 60

/** Why a condition does not match: `is not "odd"`, `does not exist`, `is not greater than 5`. */
export function explainMismatch({ operator, value }: Condition): string {
  switch (operator) {
    case 'equals':
      return `is not ${shown(value)}`
    case 'not_equals':
      return `is ${shown(value)}`
    case 'in':
      return `is not one of ${brief((value as unknown[]).map((each) => JSON.stringify(each)).join(', '))}`
    case 'contains':
      return `does not contain ${shown(value)}`
    case 'not_contains':
      return `contains ${shown(value)}`
    case 'exists':
      return 'does not exist'
    case 'not_exists':
      return 'exists'
    case 'regex':
      return `does not match /${brief(String(value))}/`
    case 'starts_with':
      return `does not start with ${shown(value)}`
    case 'ends_with':
      return `does not end with ${shown(value)}`
    case 'gt':
      return `is not greater than ${shown(value)}`
    case 'gte':
      return `is not at least ${shown(value)}`
    case 'lt':
      return `is not less than ${shown(value)}`
    case 'lte':
      return `is not at most ${shown(value)}`
  }
}

/** `expected` comes from a checked condition, so it is not deeper than `MAX_VALUE_DEPTH`. */
function shown(expected: unknown): string {
  return brief(JSON.stringify(expected))
}

function brief(text: string): string {
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text
}

function isEqual(value: unknown, expected: unknown, isTyped: boolean, budget: Budget): boolean {
  return jsonEquals(isTyped ? value : convertText(value, expected, budget), expected, budget)
}

/** Text in text, or an element in a list. */
function contains(value: unknown, expected: unknown, isTyped: boolean, budget: Budget): boolean {
  if (typeof value === 'string') {
    budget.spend(1 + value.length / 32)
    return typeof expected === 'string' && value.includes(expected)
  }
  return (
    Array.isArray(value) && value.some((element) => isEqual(element, expected, isTyped, budget))
  )
}

function onText(test: (text: string, budget: Budget) => boolean): ValueTest {
  return (value, _isTyped, budget) => {
    budget.spend(1)
    return typeof value === 'string' && test(value, budget)
  }
}

/** Compares number with number, or text with text by code units, which sorts ISO 8601 dates. */
function ordered(expected: unknown, isMatch: (order: number) => boolean): ValueTest {
  return (value, isTyped, budget) => {
    budget.spend(1)
    const actual = isTyped ? value : convertText(value, expected, budget)
    if (typeof actual === 'number' && typeof expected === 'number') {
      return isMatch(actual - expected)
    }
    if (typeof actual !== 'string' || typeof expected !== 'string') return false
    budget.spend(Math.min(actual.length, expected.length) / 64)
    return isMatch(actual < expected ? -1 : actual > expected ? 1 : 0)
  }
}

/** Text converted to the type of `expected`, if it is the text of such a value. */
function convertText(value: unknown, expected: unknown, budget: Budget): unknown {
  if (typeof value !== 'string') return value
  budget.spend(value.length / 16)
  if (typeof expected === 'number' && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) {
    return Number(value)
  }
  if (typeof expected === 'boolean' && (value === 'true' || value === 'false')) {
    return value === 'true'
  }
  return value
}
