/**
 * Limits the work of one filter check. Filters run between the deliveries of other users, and both
 * the author of a filter and the sender of an event influence what a check costs.
 */

/** One unit takes about a tenth of a microsecond. */
const MAX_UNITS = 500_000

/** Thrown to leave a check from any depth; always the same object, so that it costs no stack trace. */
export const BUDGET_EXCEEDED = new Error('The filter check exceeded its budget')

export interface Budget {
  /** Throws `BUDGET_EXCEEDED` if fewer units are left. */
  spend(units: number): void
}

export function createBudget(units: number = MAX_UNITS): Budget {
  let left = units
  return {
    spend(spent) {
      if (spent > left) throw BUDGET_EXCEEDED
      left -= spent
    },
  }
}
