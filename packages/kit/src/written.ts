import { ConditionFailed, TransactionFailed } from './db-errors.ts'

/** Whether a conditional write or transaction happened; not if its conditions did not hold. */
export async function written(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    if (error instanceof TransactionFailed && error.conditionFailed()) return false
    throw error
  }
}
