/** Failures of the stores of a copy, as sentences that say which side failed and how to continue. */
import { type Db, eachOperation } from '@strongroom/kit/db'
import { isNamed } from '@strongroom/kit/db-errors'
import { Failure } from '@strongroom/kit/errors'
import { failureReason } from '@strongroom/server/store'

export const CONTINUE = 'Run the same command again to continue.'

/** Outcomes that callers decide on. */
const OUTCOMES = [
  'ConditionalCheckFailedException',
  'TransactionCanceledException',
  'ResourceNotFoundException',
  'ResourceInUseException',
  'ValidationException',
  'UnknownOperationException',
]

/** `who` begins the sentence: `The target, ./data,`. */
export function explainFailures(db: Db, who: string): Db {
  return eachOperation((name) => async (input) => {
    try {
      return await db[name](input)
    } catch (error) {
      if (isNamed(error, ...OUTCOMES)) throw error
      throw new Failure('failed', `${who} ${explanation(name, error)} ${CONTINUE}`, {
        cause: error,
      })
    }
  })
}

function explanation(operation: string, error: unknown): string {
  const action = operation.charAt(0).toUpperCase() + operation.slice(1)
  if (isNamed(error, 'AccessDeniedException'))
    return `refused dynamodb:${action}. Allow it in the policy of your credentials.`
  if (error instanceof Error && 'isDiskFailure' in error && error.isDiskFailure === true)
    return `cannot be written: ${error.message.replace(/\.$/, '')}.`
  return `failed (${failureReason(error)}). Check that it is running and can be reached.`
}
