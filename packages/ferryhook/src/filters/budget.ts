/**
 * Limits the work of one filter check or field map. Both their author and the sender of an event
 * influence what they cost.
 */

/** One unit takes about 50 nanoseconds, and at most twice that. */
export const MAX_UNITS = 400_000

/** Thrown to leave the work from any depth; always the same object, so that it costs no stack trace. */
export const BUDGET_EXCEEDED = new Error('The work exceeded its budget')

export interface Budget {
  /** Called before the work. Throws `BUDGET_EXCEEDED` and charges nothing if fewer units are left. */
  spend(units: number): void
  readonly spent: number
  /** Whether work was refused. */
  readonly isExceeded: boolean
}

export function createBudget(units: number = MAX_UNITS): Budget {
  let spent = 0
  let isExceeded = false
  return {
    spend(more) {
      if (spent + more > units) {
        isExceeded = true
        throw BUDGET_EXCEEDED
      }
      spent += more
    },
    get isExceeded() {
      return isExceeded
    },
    get spent() {
      return spent
    },
  }
}

/** What it costs to parse JSON of this length. */
export function parseUnits(length: number): number {
  return length / 4
}
