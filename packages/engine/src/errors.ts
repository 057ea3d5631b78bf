/**
 * The failures the engine reports: AWS's exception names with AWS's texts.
 *
 * One class serves all of them, because callers distinguish them by `name`, as with the AWS SDK.
 * How an exception looks on the wire (`__type`, its namespace) is the protocol's business.
 */
import type { Item } from './values/types.ts'

/** Why one action of a cancelled transaction failed; `Code` is 'None' for those that did not. */
export interface CancellationReason {
  Code: string
  Message?: string
  Item?: Item
}

interface Details {
  Item?: Item | undefined
  CancellationReasons?: CancellationReason[] | undefined
}

export class DynamoError extends Error {
  readonly statusCode: number
  /** The item that failed a condition, when the caller asked for it. */
  declare readonly Item?: Item
  declare readonly CancellationReasons?: CancellationReason[]

  constructor(name: string, message: string, statusCode = 400, details: Details = {}) {
    super(message)
    this.name = name
    this.statusCode = statusCode
    if (details.Item) this.Item = details.Item
    if (details.CancellationReasons) this.CancellationReasons = details.CancellationReasons
  }
}

export function validationError(message: string): DynamoError {
  return new DynamoError('ValidationException', message)
}

export function conditionalCheckFailed(item?: Item): DynamoError {
  return new DynamoError('ConditionalCheckFailedException', 'The conditional request failed', 400, {
    Item: item,
  })
}

/** Only INSERT of PartiQL minds an item that is there already. */
export function duplicateItem(): DynamoError {
  return new DynamoError('DuplicateItemException', 'Duplicate primary key exists in table')
}

export function resourceNotFound(message = 'Requested resource not found'): DynamoError {
  return new DynamoError('ResourceNotFoundException', message)
}

export function resourceInUse(message: string): DynamoError {
  return new DynamoError('ResourceInUseException', message)
}

export function tableNotFound(name: string): DynamoError {
  return new DynamoError('TableNotFoundException', `Table not found: ${name}`)
}

export function tableAlreadyExists(name: string): DynamoError {
  return new DynamoError('TableAlreadyExistsException', `Table already exists: ${name}`)
}

export function transactionCanceled(reasons: CancellationReason[]): DynamoError {
  const codes = reasons.map((reason) => reason.Code).join(', ')
  return new DynamoError(
    'TransactionCanceledException',
    `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes}]`,
    400,
    { CancellationReasons: reasons },
  )
}

export function idempotentParameterMismatch(
  message = 'The request uses the same client token as a previous, but non-identical request. Do not reuse a client token with different parameters, unless the requests are identical',
): DynamoError {
  return new DynamoError('IdempotentParameterMismatchException', message)
}

export function limitExceeded(message: string): DynamoError {
  return new DynamoError('LimitExceededException', message)
}

/** JSON that does not have the shape of a request. */
export function serializationError(message: string): DynamoError {
  return new DynamoError('SerializationException', message)
}

export function unknownOperation(message = ''): DynamoError {
  return new DynamoError('UnknownOperationException', message)
}

/** A defect of the engine; never caused by a request alone. */
export function internalError(
  message = 'The request processing has failed because of an unknown error, exception or failure.',
): DynamoError {
  return new DynamoError('InternalServerError', message, 500)
}
