/**
 * Errors of the store. Services decide on ConditionFailed and TransactionFailed; everything else is
 * a defect or an outage and passes through unchanged.
 */
import type { z } from 'zod'
import type { Item } from './db.ts'
import type { Table } from './table.ts'

/** The condition of a write failed, so nothing was written. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed'
  /** The stored item, if the store reported it; undefined if there is none. */
  readonly item: Item | undefined

  constructor(item: Item | undefined, options?: ErrorOptions) {
    super('The condition of the write failed', options)
    this.item = item
  }
}

/** A transaction wrote nothing. `reasons` has one entry for each part, in their order. */
export class TransactionFailed extends Error {
  override readonly name = 'TransactionFailed'
  readonly reasons: TransactionReason[]

  constructor(reasons: TransactionReason[], options?: ErrorOptions) {
    super(`The transaction was cancelled: ${reasons.map(({ code }) => code).join(', ')}`, options)
    this.reasons = reasons
  }

  /** Whether the condition of that part failed; without a part, whether any did. */
  conditionFailed(part?: number): boolean {
    const reasons = part === undefined ? this.reasons : this.reasons.slice(part, part + 1)
    return reasons.some(({ code }) => code === 'ConditionalCheckFailed')
  }
}

export interface TransactionReason {
  /** DynamoDB's code: `None`, `ConditionalCheckFailed`, `TransactionConflict`, … */
  code: string
  item: Item | undefined
}

/**
 * An item does not match its schema: a defect when writing, a foreign or damaged item when reading.
 * It names the table, the key and the attributes, never the values of the attributes.
 */
export class ItemMismatch extends Error {
  override readonly name = 'ItemMismatch'
  readonly table: string
  readonly key: Item
  /** The attributes that do not match, as paths. */
  readonly attributes: string[]

  constructor(
    table: Table,
    item: Item,
    action: 'read' | 'write',
    { issues }: Pick<z.ZodError, 'issues'>,
  ) {
    const attributes = [...new Set(issues.flatMap(attributesOf))]
    super(`Cannot ${action} an item of ${table.name}: check ${attributes.join(', ')}`)
    this.table = table.name
    this.key = keyOf(table, item)
    this.attributes = attributes
  }
}

/** The store, or one item of it, is overloaded: a 503, to be retried later. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy'
}

/** Turns errors of the store into ConditionFailed or TransactionFailed: `.catch(rethrowOutcome)`. */
export function rethrowOutcome(error: unknown): never {
  if (isNamed(error, 'ConditionalCheckFailedException')) {
    throw new ConditionFailed((error as { Item?: Item }).Item, { cause: error })
  }
  if (isNamed(error, 'TransactionCanceledException')) {
    throw new TransactionFailed(cancellationReasons(error), { cause: error })
  }
  throw error
}

/**
 * Whether a write may have happened although its call failed. Connections that broke or timed out
 * are a `TimeoutError` of the SDK, whatever their system code.
 */
export function isResponseLost(error: unknown): boolean {
  return isNamed(
    error,
    'TimeoutError',
    'NetworkingError',
    'InternalServerError',
    'ServiceUnavailable',
    // The first call with this token is still running.
    'TransactionInProgressException',
  )
}

/** Whether nothing was written because of throttling or a conflict between transactions. */
export function isThrottled(error: unknown): boolean {
  if (
    isNamed(
      error,
      'ThrottlingException',
      'ProvisionedThroughputExceededException',
      'RequestLimitExceeded',
      'TransactionConflictException',
    )
  )
    return true
  return reasonsOf(error)?.every(({ code }) => TRANSIENT_REASONS.has(code)) ?? false
}

/** Undefined if the error is not about a cancelled transaction. */
function reasonsOf(error: unknown): TransactionReason[] | undefined {
  if (error instanceof TransactionFailed) return error.reasons
  return isNamed(error, 'TransactionCanceledException') ? cancellationReasons(error) : undefined
}

const TRANSIENT_REASONS = new Set([
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
])

/** Whether the store or KMS is unavailable: a 503 with Retry-After. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (UNAVAILABLE_NAMES.has(error.name) || isThrottled(error)) return true
  return 'code' in error && UNREACHABLE_CODES.has(String(error.code))
}

/** A disabled key and denied access are among them, because an operator may correct both. */
const UNAVAILABLE_NAMES = new Set([
  'AccessDeniedException',
  'CredentialsProviderError',
  'DependencyTimeoutException',
  'DisabledException',
  'ExpiredTokenException',
  'InternalFailure',
  'InternalServerError',
  'KMSInternalException',
  'KMSInvalidStateException',
  'KeyUnavailableException',
  // The key store's names for the same failures of KMS.
  'KmsAccessDenied',
  'KmsKeyUnusable',
  'KmsUnavailable',
  'LimitExceededException',
  'NetworkingError',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestTimeoutException',
  'ServiceUnavailable',
  'ServiceUnavailableException',
  'StoreBusy',
  'ThrottlingException',
  'TimeoutError',
  'TooManyRequestsException',
  'TransactionConflictException',
  'TransactionInProgressException',
  'UnrecognizedClientException',
])

/** The system codes of connections that fail or break. */
const UNREACHABLE_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

/** Whether a conditional write or transaction was written; false if a condition of it failed. */
export async function conditionHeld(write: Promise<unknown>): Promise<boolean> {
  try {
    await write
    return true
  } catch (error) {
    if (error instanceof ConditionFailed) return false
    if (error instanceof TransactionFailed && error.conditionFailed()) return false
    throw error
  }
}

function cancellationReasons(error: Error): TransactionReason[] {
  const { CancellationReasons = [] } = error as {
    CancellationReasons?: { Code?: string; Item?: Item }[]
  }
  return CancellationReasons.map(({ Code = 'None', Item }) => ({ code: Code, item: Item }))
}

export function isNamed(error: unknown, ...names: string[]): error is Error {
  return error instanceof Error && names.includes(error.name)
}

function attributesOf(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.join('.')
  if (issue.code !== 'unrecognized_keys') return [path]
  return issue.keys.map((key) => (path ? `${path}.${key}` : key))
}

function keyOf({ partitionKey, sortKey }: Table, item: Item): Item {
  const names = sortKey ? [partitionKey.name, sortKey.name] : [partitionKey.name]
  return Object.fromEntries(
    Object.entries(item).filter(([name, value]) => names.includes(name) && value !== undefined),
  )
}
