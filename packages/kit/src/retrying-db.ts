/**
 * A Db that retries what is transient: throttling, conflicts between transactions, batches that were
 * processed in part.
 *
 * A write is repeated only after failures that wrote nothing. After a lost response the write may
 * have happened, so it is repeated only if it is a transaction with a token, which the store executes
 * once. Reads may always be repeated.
 */
import { setTimeout } from 'node:timers/promises'
import { type BatchGetItemOutput, type Db, eachOperation, type Item } from './db.ts'
import { isResponseLost, isThrottled, StoreBusy } from './db-errors.ts'

export interface Retries {
  attempts?: number
  /** Waits before the next attempt; injected so that tests need not wait. */
  pause?: (ms: number) => Promise<unknown>
  random?: () => number
}

const BASE_DELAY_MS = 20
const MAX_DELAY_MS = 1000
/** Each lost response costs a whole timeout. */
const MAX_LOST_RESPONSES = 2

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

  // Full jitter, so that two clients in conflict do not retry in step.
  const backOff = (attempt: number) =>
    pause(random() * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** attempt))

  async function retried<T>(call: () => Promise<T>, isRepeatable: boolean): Promise<T> {
    let lostResponses = 0
    for (let attempt = 0; ; attempt++) {
      try {
        return await call()
      } catch (error) {
        const isLost = isResponseLost(error)
        if (isLost) lostResponses += 1
        const mayRepeat = isThrottled(error) || (isRepeatable && isLost)
        if (!mayRepeat || attempt + 1 >= attempts || lostResponses > MAX_LOST_RESPONSES) throw error
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
    if (attempt >= attempts) throw new StoreBusy('The store left part of a batch unprocessed')
    await backOff(attempt)
  }
}

/** The store executes a transaction with the same token once, however often it is sent. */
function hasToken(input: { ClientRequestToken?: string }): boolean {
  return input.ClientRequestToken !== undefined
}

function hasContent<T>(requests: Record<string, T> | undefined): requests is Record<string, T> {
  return requests !== undefined && Object.keys(requests).length > 0
}
