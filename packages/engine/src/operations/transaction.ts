/**
 * The common part of both kinds of transactions: limits, and cancellation with one reason per action.
 *
 * Write transactions run one after the other, so TransactionConflict never happens.
 */
import { type CancellationReason, DynamoError, transactionCanceled } from '../errors.ts'

export const MAX_ACTIONS = 100
export const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024

const FINE: CancellationReason = { Code: 'None' }

/** The cancellation reason for what `attempt` throws, or 'None'. Defects are rethrown. */
export function reasonOf(attempt: () => void): CancellationReason {
  try {
    attempt()
    return FINE
  } catch (error) {
    if (!(error instanceof DynamoError)) throw error
    if (error.name === 'ValidationException' && !refusesRequest(error)) {
      return { Code: 'ValidationError', Message: error.message }
    }
    // AWS documents no cancellation code for it, only the one of statements in batches.
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

/** An empty index key makes the whole request invalid, instead of cancelling the transaction. */
function refusesRequest(error: DynamoError): boolean {
  return error.message.startsWith('One or more parameter values are not valid.')
}

export function assertNoReasons(reasons: CancellationReason[]): void {
  if (reasons.some((reason) => reason !== FINE)) throw transactionCanceled(reasons)
}
