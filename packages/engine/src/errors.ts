/**
 * The errors of the engine, with AWS's exception names and messages.
 *
 * All have one class, because callers distinguish them by `name`, as with the AWS SDK. Their form on the
 * wire is in `wire/failure.ts`.
 */
import type { Item } from './values/types.ts'

/** The reason why an action of a cancelled transaction failed; `Code` is 'None' if it did not. */
export interface CancellationReason {
  Code: string
  Message?: string
  Item?: Item
}

interface Details {
  Item?: Item | undefined
  CancellationReasons?: CancellationReason[] | undefined
  isDiskFailure?: true
}

export class DynamoError extends Error {
  readonly statusCode: number
  /** The item that failed a condition, if the caller asked for it. */
  declare readonly Item?: Item
  declare readonly CancellationReasons?: CancellationReason[]
  /** The disk or the system is at fault; the message says what to do. */
  declare readonly isDiskFailure?: true

  constructor(name: string, message: string, statusCode = 400, details: Details = {}) {
    super(message)
    this.name = name
    this.statusCode = statusCode
    if (details.Item) this.Item = details.Item
    if (details.CancellationReasons) this.CancellationReasons = details.CancellationReasons
    if (details.isDiskFailure) this.isDiskFailure = true
  }
}

export function validationError(message: string): DynamoError {
  return new DynamoError('ValidationException', message)
}

/** A constraint that AWS checks after those of the request's shape, one by one and without the value. */
export function constraintViolated(member: string, constraint: string): DynamoError {
  return validationError(
    `1 validation error detected: Value at '${member}' failed to satisfy constraint: ${constraint}`,
  )
}

export function conditionalCheckFailed(item?: Item): DynamoError {
  return new DynamoError('ConditionalCheckFailedException', 'The conditional request failed', 400, {
    Item: item,
  })
}

/** Only PartiQL's INSERT fails for an existing item. */
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
