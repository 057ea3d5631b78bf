/** Writes items in batches. Puts and deletes of whole items may be repeated, also after a lost response. */
import { setTimeout } from 'node:timers/promises'
import type { Db, Item, WriteRequest } from '@strongroom/kit/db'
import { isResponseLost } from '@strongroom/kit/db-errors'
import { Failure } from '@strongroom/kit/errors'
import type { Table } from '@strongroom/kit/table'
import { itemBytes } from './item-bytes.ts'

/** DynamoDB's limit. */
const MAX_BATCH_ITEMS = 25
/** A request must arrive within its timeout, also over a slow line. */
const MAX_BATCH_BYTES = 1024 * 1024
const MAX_BATCHES_IN_FLIGHT = 4
const MAX_ATTEMPTS = 5
const RETRY_DELAY_MS = 200

export async function writeItems(db: Db, table: Table, items: readonly Item[]): Promise<void> {
  const requests = items.map((item) => ({
    request: { PutRequest: { Item: item } },
    bytes: itemBytes(item).length,
  }))
  await writeAll(db, table, requests)
}

export async function deleteItems(db: Db, table: Table, keys: readonly Item[]): Promise<void> {
  const requests = keys.map((key) => ({ request: { DeleteRequest: { Key: key } }, bytes: 0 }))
  await writeAll(db, table, requests)
}

interface SizedRequest {
  request: WriteRequest
  bytes: number
}

async function writeAll(db: Db, table: Table, requests: readonly SizedRequest[]): Promise<void> {
  const batches = toBatches(requests)
  await forEachLimited(batches, MAX_BATCHES_IN_FLIGHT, (batch) => writeBatch(db, table, batch))
}

function toBatches(requests: readonly SizedRequest[]): WriteRequest[][] {
  const batches: WriteRequest[][] = []
  let room = 0
  for (const { request, bytes } of requests) {
    const last = batches.at(-1)
    if (last && last.length < MAX_BATCH_ITEMS && bytes <= room) last.push(request)
    else {
      batches.push([request])
      room = MAX_BATCH_BYTES
    }
    room -= bytes
  }
  return batches
}

async function writeBatch(db: Db, table: Table, batch: WriteRequest[]): Promise<void> {
  await repeatIfLost(() => db.batchWriteItem({ RequestItems: { [table.name]: batch } }))
}

/** For writes that may be made twice. */
export async function repeatIfLost<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write()
    } catch (error) {
      const cause = error instanceof Failure ? error.cause : error
      if (!isResponseLost(cause) || attempt === MAX_ATTEMPTS) throw error
      await setTimeout(RETRY_DELAY_MS * attempt)
    }
  }
}

/** Runs the work for all, at most `limit` at a time. After a failure no more is started. */
export async function forEachLimited<T>(
  all: readonly T[],
  limit: number,
  work: (each: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const take = async () => {
    try {
      while (next < all.length) {
        const index = next++
        await work(all[index] as T, index)
      }
    } catch (error) {
      next = all.length
      throw error
    }
  }
  const outcomes = await Promise.allSettled(
    Array.from({ length: Math.min(limit, all.length) }, take),
  )
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed) throw failed.reason
}
