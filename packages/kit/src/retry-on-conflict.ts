/** Optimistic concurrency: read, decide, write on the condition that what was read still holds. */
import { ConditionFailed, StoreBusy, TransactionFailed } from './db-errors.ts'

/** Returned by an attempt whose condition failed because of a concurrent write. */
export const CONFLICT = Symbol('conflict')

const MAX_ATTEMPTS = 200

export interface ConflictRetries {
  /** 200 unless given: more conflicts in a row mean a defect. */
  maxAttempts?: number
  /** The error after the last attempt; `StoreBusy`, which is a 503, unless given. */
  exhausted?: () => Error
}

/**
 * Runs a read-decide-write attempt and repeats it when a concurrent write makes its condition fail.
 * A conflict is CONFLICT returned, ConditionFailed thrown, or TransactionFailed with a failed
 * condition thrown. Everything else passes through. No back-off: every conflict means that another
 * writer made progress.
 */
export async function retryOnConflict<T>(
  attempt: (number: number) => Promise<T | typeof CONFLICT>,
  { maxAttempts = MAX_ATTEMPTS, exhausted }: ConflictRetries = {},
): Promise<T> {
  let cause: unknown
  for (let number = 1; number <= maxAttempts; number++) {
    try {
      const outcome = await attempt(number)
      if (outcome !== CONFLICT) return outcome
    } catch (error) {
      if (!isConflict(error)) throw error
      cause = error
    }
  }
  throw (
    exhausted?.() ??
    new StoreBusy('Too many concurrent writes to the same item. Retry later.', { cause })
  )
}

function isConflict(error: unknown): boolean {
  if (error instanceof TransactionFailed) return error.conditionFailed()
  return error instanceof ConditionFailed
}
