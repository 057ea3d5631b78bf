/**
 * Limits the work of one filter check. Filters run between the deliveries of other users, and both
 * the author of a filter and the sender of an event influence what a check costs.
 */

/** One unit takes about a tenth of a microsecond. */
const MAX_UNITS = 500_000

export class BudgetExceeded extends Error {
  override readonly name = 'BudgetExceeded'
}

export interface Budget {
  /** Throws `BudgetExceeded` if fewer units are left. */
  spend(units: number): void
}

export function createBudget(units: number = MAX_UNITS): Budget {
  let left = units
  return {
    spend(spent) {
      if (spent > left) throw new BudgetExceeded('The filter check exceeded its budget')
      left -= spent
    },
  }
}
