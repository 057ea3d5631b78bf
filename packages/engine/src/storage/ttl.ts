// Deletes items whose time to live has passed, found through a time-ordered list instead of a scan. As
// in DynamoDB, items that expired more than five years ago are kept. The TTL attribute is read again
// inside the transaction, so an item whose expiry was just extended is kept.

import { performance } from 'node:perf_hooks'
import type { Item } from '../values/types.ts'
import type { Bounds } from './bounds.ts'
import { allocate } from './lmdb/bytes.ts'
import { requireKey } from './item-keys/encrypted-value.ts'
import { expiryOf, TTL_PREFIX_BYTES, writeTtlPrefix } from './keys.ts'
import { KeySource, type Environment } from './lmdb/lmdb.ts'
import { lmdbRange } from './reads.ts'
import type { TableRecord, TtlRecord } from './storage.ts'
import type { Transaction } from './transaction.ts'

const FIVE_YEARS_SECONDS = 5 * 365 * 24 * 60 * 60
/** A batch is one commit and blocks the event loop, so its time is limited for large items, too. */
const BATCH = 200
const BATCH_MS = 5

/** The half-open range of expiry times whose items are due. */
function due(ttl: TtlRecord, now: number): Bounds {
  const low = allocate(TTL_PREFIX_BYTES)
  const high = allocate(TTL_PREFIX_BYTES)
  writeTtlPrefix(ttl.id, Math.max(0, now - FIVE_YEARS_SECONDS), low, 0)
  writeTtlPrefix(ttl.id, Math.max(0, now), high, 0)
  return { low, high }
}

export function hasExpired(env: Environment, ttl: TtlRecord, now: number): boolean {
  const range = { ...lmdbRange(due(ttl, now), false), limit: 1 }
  for (const _ of env.entries.getKeys(range)) return true
  return false
}

/** Deletes a batch of expired items; returns how many, and whether more may be left. */
export function deleteExpired(
  tx: Transaction,
  table: TableRecord,
  now: number,
): { deleted: number; more: boolean } {
  const current = tx.catalog.byId(table.id)
  if (current?.ttl === undefined) return { deleted: 0, more: false }
  const { attribute } = current.ttl
  const source = new KeySource()
  const range = { ...lmdbRange(due(current.ttl, now), false), limit: BATCH }
  const started = performance.now()
  let found = 0
  let deleted = 0
  let more = false
  for (const { key, value: offset } of tx.env.entries.getRange(range)) {
    const listed = key.bytes.readUIntBE(4, 6)
    const entry = Buffer.from(key.bytes.subarray(0, key.length))
    const stored = tx.env.items.get(source.ofBytes(key.bytes, offset, key.length))
    const item: Item | undefined = stored && requireKey(stored)
    const expiry = item && Object.hasOwn(item, attribute) ? expiryOf(item[attribute]) : undefined
    if (item !== undefined && expiry === listed) {
      tx.delete(current, item, 'expired')
      deleted++
    } else {
      tx.removeKey('entries', entry)
    }
    more = ++found === BATCH || performance.now() - started > BATCH_MS
    if (more) break
  }
  return { deleted, more }
}
