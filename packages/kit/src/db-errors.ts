/**
 * The two storage outcomes a service decides on. Everything else a store throws is a defect or an
 * outage and is passed on as it is.
 */
import type { Item } from './db.ts'

/** The condition of a write did not hold, so nothing was written. */
export class ConditionFailed extends Error {
  override readonly name = 'ConditionFailed'
  /** The item as it stood, where the store said so; undefined if there was none. */
  readonly item: Item | undefined

  constructor(item: Item | undefined, options?: ErrorOptions) {
    super('The condition of the write did not hold', options)
    this.item = item
  }
}

/** A transaction wrote nothing. `reasons` has one entry for each of its parts, in their order. */
export class TransactionFailed extends Error {
  override readonly name = 'TransactionFailed'
  readonly reasons: TransactionReason[]

  constructor(reasons: TransactionReason[], options?: ErrorOptions) {
    super(`The transaction was cancelled: ${reasons.map(({ code }) => code).join(', ')}`, options)
    this.reasons = reasons
  }

  /** Whether the condition of that part is why, or without a part, of any. */
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

/** The store, or one item of it, has more to do than it can: trying again later is right. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy'
}

/** What a store threw, as the error that services know. For use as `.catch(rethrowOutcome)`. */
export function rethrowOutcome(error: unknown): never {
  if (isNamed(error, 'ConditionalCheckFailedException')) {
    throw new ConditionFailed((error as { Item?: Item }).Item, { cause: error })
  }
  if (isNamed(error, 'TransactionCanceledException')) {
    throw new TransactionFailed(cancellationReasons(error), { cause: error })
  }
  throw error
}

export function cancellationReasons(error: Error): TransactionReason[] {
  const { CancellationReasons = [] } = error as {
    CancellationReasons?: { Code?: string; Item?: Item }[]
  }
  return CancellationReasons.map(({ Code = 'None', Item }) => ({ code: Code, item: Item }))
}

export function isNamed(error: unknown, ...names: string[]): error is Error {
  return error instanceof Error && names.includes(error.name)
}
