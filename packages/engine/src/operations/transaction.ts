/**
 * What both kinds of transaction share: their limits, and cancellation with one reason per action.
 *
 * Requests are executed one after the other, so a transaction never meets another one half done, and
 * TransactionConflict never happens.
 */
import { type CancellationReason, DynamoError, transactionCanceled } from '../errors.ts'

export const MAX_ACTIONS = 100
export const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024

const FINE: CancellationReason = { Code: 'None' }

/** Why an action cannot be done: what `attempt` throws, or 'None'. Defects are passed on. */
export function reasonOf(attempt: () => void): CancellationReason {
  try {
    attempt()
    return FINE
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    if (error.name === 'ValidationException' && !refusesRequest(error)) {
      return { Code: 'ValidationError', Message: error.message }
    }
    // AWS documents no code of a cancellation for it alone, as it does for statements in batches.
    if (error.name === 'DuplicateItemException') {
      return { Code: 'ValidationError', Message: error.message }
    }
    if (error.name === 'ConditionalCheckFailedException') {
      return {
        ...(error.Item && { Item: error.Item }),
        Code: 'ConditionalCheckFailed',
        Message: error.message,
      }
    }
    throw error
  }
}

/** An index key set to nothing is a fault of the request as a whole. */
function refusesRequest(error: DynamoError): boolean {
  return error.message.startsWith('One or more parameter values are not valid.')
}

export function assertNoReasons(reasons: CancellationReason[]): void {
  if (reasons.some((reason) => reason !== FINE)) throw transactionCanceled(reasons)
}
