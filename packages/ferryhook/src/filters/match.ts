/**
 * Decides whether an event passes a filter, and explains why not.
 *
 * A condition can be undecided, for example if it needs a part of a body that is not JSON. Undecided
 * stays undecided under `not`, and an event passes only if the filter certainly matches.
 */
import { type Budget, BUDGET_EXCEEDED, createBudget } from './budget.ts'
import type { Condition } from './condition.ts'
import type { Filter, FilterRule } from './filter.ts'
import { createOperator, explainMismatch, type ValueOperator } from './operators.ts'
import { parsePath, select } from './path.ts'
import type { FilteredEvent } from './received-event.ts'

export interface FilterResult {
  matched: boolean
  /** Names the rule that did not match. Shows what the filter expects, never what the event has. */
  reason?: string
}

type Outcome = { matches: true } | { matches: false | undefined; reason: string }
type Check = (event: FilteredEvent, budget: Budget) => Outcome

/** What an event can store as its reason. */
const MAX_REASON_LENGTH = 200
const MAX_SHOWN_PATH_LENGTH = 80

const compiled = new WeakMap<Filter, Check>()

/** `filter` must have passed its schema. It is compiled once for each filter object. */
export function matchFilter(
  filter: Filter,
  event: FilteredEvent,
  budget: Budget = createBudget(),
): FilterResult {
  const outcome = compileFilter(filter)(event, budget)
  if (outcome.matches) return { matched: true }
  // A path may contain, or be cut at, half a surrogate pair, which not every store accepts as text.
  const reason = outcome.reason.slice(0, MAX_REASON_LENGTH).replace(/\p{Surrogate}/gu, '\ufffd')
  return { matched: false, reason }
}

/** Called when a connection is read, because its first event should not wait for it. */
export function compileFilter(filter: Filter): Check {
  let check = compiled.get(filter)
  if (!check) {
    check = all(filter.map((rule, index) => compileRule(rule, `filters[${index}]`)))
    compiled.set(filter, check)
  }
  return check
}

function compileRule(rule: FilterRule, at: string): Check {
  if ('all' in rule) return all(compileRules(rule.all, `${at}.all`))
  if ('any' in rule) return any(compileRules(rule.any, `${at}.any`), at)
  if ('not' in rule) return not(compileRule(rule.not, `${at}.not`), at)
  return compileCondition(rule, at)
}

function compileRules(rules: readonly FilterRule[], at: string): Check[] {
  return rules.map((rule, index) => compileRule(rule, `${at}[${index}]`))
}

function all(checks: readonly Check[]): Check {
  return (event, budget) => {
    let undecided: Outcome | undefined
    for (const check of checks) {
      const outcome = check(event, budget)
      if (outcome.matches === false) return outcome
      if (outcome.matches === undefined) undecided ??= outcome
    }
    return undecided ?? { matches: true }
  }
}

function any(checks: readonly Check[], at: string): Check {
  return (event, budget) => {
    let undecided: Outcome | undefined
    for (const check of checks) {
      const outcome = check(event, budget)
      if (outcome.matches) return outcome
      if (outcome.matches === undefined) undecided ??= outcome
    }
    return undecided ?? { matches: false, reason: `${at}: no condition of "any" matches` }
  }
}

function not(check: Check, at: string): Check {
  return (event, budget) => {
    const outcome = check(event, budget)
    if (outcome.matches === undefined) return outcome
    return outcome.matches
      ? { matches: false, reason: `${at}: the condition of "not" matches` }
      : { matches: true }
  }
}

/** With a wildcard, one value must match; for a negative operator, no value may match. */
function compileCondition(rule: Condition, at: string): Check {
  const path = parsePath(rule.path)
  const isNegated = rule.operator.startsWith('not_')
  const operator = rule.operator.replace(/^not_/, '') as ValueOperator | 'exists'
  const test = operator === 'exists' ? undefined : createOperator(operator, rule)
  const shownPath = brief(rule.path)
  const mismatch = `${at}: ${shownPath} ${explainMismatch(rule)}`

  return (event, budget) => {
    try {
      const selection = select(event, path, budget)
      if (!selection && test) {
        const reason = `${at}: ${shownPath} cannot be checked, because the body is not JSON`
        return { matches: undefined, reason }
      }
      const { values, isTyped } = selection ?? { values: [], isTyped: true }
      const isFound = test
        ? values.some((value) => test(value, isTyped, budget))
        : values.length > 0
      return isFound === isNegated ? { matches: false, reason: mismatch } : { matches: true }
    } catch (error) {
      if (error !== BUDGET_EXCEEDED) throw error
      const reason = `${at}: ${shownPath} takes too long to check for this event`
      return { matches: undefined, reason }
    }
  }
}

/** Leaves room for the rest of the reason. */
function brief(path: string): string {
  return path.length > MAX_SHOWN_PATH_LENGTH ? `${path.slice(0, MAX_SHOWN_PATH_LENGTH)}…` : path
}
