/**
 * Whether an event passes a filter, and if not, why.
 *
 * A condition may be undecided: nothing can be said of the parts of a body that has none. Undecided
 * stays undecided under `not`, and an event passes only if the filter certainly holds.
 */
import type { Condition } from './condition.ts'
import type { FilteredEvent } from './event.ts'
import type { Filter, FilterRule } from './filter.ts'
import { parsePath } from './path.ts'
import { select } from './select.ts'
import { type ValueOperator, valueTest } from './test-value.ts'
import { limitedWork, TooMuchWork, type Work } from './work.ts'

export interface FilterResult {
  matched: boolean
  /** Why it did not match: which rule, and its path and operator; never a value. */
  reason?: string
}

type Verdict = { holds: true } | { holds: false | undefined; why: string }
type Check = (event: FilteredEvent, work: Work) => Verdict

/** What is stored as the reason of an event. */
const longestReason = 200

const compiled = new WeakMap<Filter, Check>()

/** `filter` has come through its schema. What is made of it is kept as long as the same object is used. */
export function matchFilter(filter: Filter, event: FilteredEvent): FilterResult {
  let check = compiled.get(filter)
  if (!check) {
    check = all(filter.map((rule, index) => checkOf(rule, `filters[${index}]`)))
    compiled.set(filter, check)
  }
  const verdict = check(event, limitedWork())
  if (verdict.holds) return { matched: true }
  // A path may hold, or be cut to, half a character: not every store takes that for text.
  const reason = verdict.why.slice(0, longestReason).replace(/\p{Surrogate}/gu, '\ufffd')
  return { matched: false, reason }
}

function checkOf(rule: FilterRule, at: string): Check {
  if ('all' in rule) return all(checksOf(rule.all, `${at}.all`))
  if ('any' in rule) return any(checksOf(rule.any, `${at}.any`), at)
  if ('not' in rule) return not(checkOf(rule.not, `${at}.not`), at)
  return condition(rule, at)
}

function checksOf(rules: readonly FilterRule[], at: string): Check[] {
  return rules.map((rule, index) => checkOf(rule, `${at}[${index}]`))
}

function all(checks: readonly Check[]): Check {
  return (event, work) => {
    let undecided: Verdict | undefined
    for (const check of checks) {
      const verdict = check(event, work)
      if (verdict.holds === false) return verdict
      if (verdict.holds === undefined) undecided ??= verdict
    }
    return undecided ?? { holds: true }
  }
}

function any(checks: readonly Check[], at: string): Check {
  return (event, work) => {
    let undecided: Verdict | undefined
    for (const check of checks) {
      const verdict = check(event, work)
      if (verdict.holds) return verdict
      if (verdict.holds === undefined) undecided ??= verdict
    }
    return undecided ?? { holds: false, why: `${at}: none of "any" holds` }
  }
}

function not(check: Check, at: string): Check {
  return (event, work) => {
    const verdict = check(event, work)
    if (verdict.holds === undefined) return verdict
    return verdict.holds
      ? { holds: false, why: `${at}: what is under "not" holds` }
      : { holds: true }
  }
}

/** With a wildcard: some value is so, and for the negative operators: no value is otherwise. */
function condition(rule: Condition, at: string): Check {
  const path = parsePath(rule.path)
  const isNegated = rule.operator.startsWith('not_')
  const operator = rule.operator.replace(/^not_/, '') as ValueOperator | 'exists'
  const test = operator === 'exists' ? undefined : valueTest(operator, rule)
  const named = `${at}: ${brief(rule.path)} ${rule.operator}`

  return (event, work) => {
    try {
      const selection = select(event, path, work)
      if (!selection && test) {
        return { holds: undefined, why: `${named} cannot be said of a body that is not JSON` }
      }
      const { values, isTyped } = selection ?? { values: [], isTyped: true }
      const isSo = test ? values.some((value) => test(value, isTyped, work)) : values.length > 0
      return isSo !== isNegated ? { holds: true } : { holds: false, why: `${named} does not hold` }
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error
      return { holds: undefined, why: `${named} takes too long to check on this event` }
    }
  }
}

/** So that what follows it is not cut off. */
function brief(path: string): string {
  return path.length > 80 ? `${path.slice(0, 80)}…` : path
}
