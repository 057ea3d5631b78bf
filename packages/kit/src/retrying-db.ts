/**
 * A Db that waits out what passes by itself: throttling, conflicts between transactions, batches
 * done in part.
 *
 * A write is repeated only after failures that wrote nothing. A lost answer is not one of them: the
 * write may have happened, and whether to repeat it is the caller's knowledge, who says so by the
 * token of a transaction. A read may always be repeated.
 */
import { setTimeout } from 'node:timers/promises'
import { type BatchGetItemOutput, type Db, eachOperation, type Item } from './db.ts'
import { cancellationReasons, isNamed, StoreBusy } from './db-errors.ts'

export interface Retries {
  attempts?: number
  /** Waits before the next attempt; tests need not wait. */
  pause?: (ms: number) => Promise<unknown>
  random?: () => number
}

const BASE_DELAY_MS = 20
const MAX_DELAY_MS = 1000
/** A lost answer costs its whole time-out each time. */
const LOST_ANSWERS = 2

const reads = new Set<keyof Db>([
  'getItem',
  'query',
  'scan',
  'batchGetItem',
  'transactGetItems',
  'describeTable',
  'describeTimeToLive',
  'describeContinuousBackups',
])

export function retryingDb(db: Db, options: Retries = {}): Db {
  const { attempts = 8, pause = setTimeout, random = Math.random } = options

  // Full jitter: a conflict between two clients must not meet again in step.
  const backOff = (attempt: number) =>
    pause(random() * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** attempt))

  async function retried<T>(call: () => Promise<T>, isRepeatable: boolean): Promise<T> {
    let lostAnswers = 0
    for (let attempt = 0; ; attempt++) {
      try {
        return await call()
      } catch (error) {
        const repeatable = passesByItself(error) || (isRepeatable && isLostAnswer(error))
        if (isLostAnswer(error)) lostAnswers++
        if (attempt + 1 >= attempts || lostAnswers > LOST_ANSWERS || !repeatable) throw error
        await backOff(attempt)
      }
    }
  }

  const retrying = eachOperation(
    (name) => (input) => retried(() => db[name](input), reads.has(name) || hasToken(input)),
  )

  return {
    ...retrying,

    async batchGetItem(input) {
      const found: Record<string, Item[]> = {}
      let left: BatchGetItemOutput['UnprocessedKeys'] = input.RequestItems
      for (let attempt = 0; hasContent(left); attempt++) {
        if (attempt > 0) await giveUpOrBackOff(attempt)
        const output = await retrying.batchGetItem({ RequestItems: left })
        for (const [table, items] of Object.entries(output.Responses ?? {})) {
          ;(found[table] ??= []).push(...items)
        }
        left = output.UnprocessedKeys
      }
      return { Responses: found }
    },

    async batchWriteItem(input) {
      let left: typeof input.RequestItems | undefined = input.RequestItems
      for (let attempt = 0; hasContent(left); attempt++) {
        if (attempt > 0) await giveUpOrBackOff(attempt)
        left = (await retrying.batchWriteItem({ RequestItems: left })).UnprocessedItems
      }
      return {}
    },
  }

  async function giveUpOrBackOff(attempt: number) {
    if (attempt >= attempts) throw new StoreBusy('The store left part of a batch undone')
    await backOff(attempt)
  }
}

/** The store does a transaction of the same token once, however often it is sent. */
function hasToken(input: { ClientRequestToken?: string }): boolean {
  return input.ClientRequestToken !== undefined
}

function hasContent<T>(requests: Record<string, T> | undefined): requests is Record<string, T> {
  return requests !== undefined && Object.keys(requests).length > 0
}

const passing = [
  'ThrottlingException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
]
const passingReasons = [
  'None',
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
]

/**
 * Whether a write may have happened although it failed. Connections that broke or timed out have the
 * first name, whatever their system code.
 */
export function isLostAnswer(error: unknown): boolean {
  return isNamed(error, 'TimeoutError', 'InternalServerError', 'ServiceUnavailable')
}

function passesByItself(error: unknown): boolean {
  if (isNamed(error, ...passing, 'TransactionConflictException')) return true
  if (!isNamed(error, 'TransactionCanceledException')) return false
  return cancellationReasons(error).every(({ code }) => passingReasons.includes(code))
}
