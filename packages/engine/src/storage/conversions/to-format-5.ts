import { ALL_TABLES } from '../catalog.ts'
import { ALL_JOBS, type Job } from '../jobs/jobs.ts'
import { rewriteHash } from '../keys.ts'
import { allocate, copyBytes, type FastBuffer } from '../lmdb/bytes.ts'
import { type EncodedValue, type Environment, KeySource, type Table } from '../lmdb/lmdb.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import { type Conversion, MAX_BATCH, type Position } from './conversion.ts'

/**
 * Format 5 shortened what the hash in a key is of: the first bytes of a partition key instead of all. Each
 * item and index entry moves to its new key, and its value stays as it is, encrypted or not. A record may
 * move ahead and is then read a second time, at its own key; so it does not matter how often one is read.
 */
export const toFormat5: Conversion = {
  to: 5,
  summary: 'stores items together whose keys begin alike',
  growth: 0.25,
  total: (env) => countOf(env.raw.items) + countOf(env.entries),
  step,
}

const HASHED_BYTES = 4
/** A thousand items can have 400 MB. */
const MAX_BATCH_BYTES = 4 << 20
const LAST_KEY = allocate(16).fill(255)

interface Place extends Position {
  space: 'items' | 'entries'
  after: string
}

function countOf(table: object): number {
  return (table as { getStats(): { entryCount: number } }).getStats().entryCount
}

function step(env: Environment, position: Position | undefined): Position | undefined {
  if (position === undefined) restartJobs(env)
  const { done, space, after } = (position as Place | undefined) ?? {
    done: 0,
    space: 'items',
    after: '',
  }
  const moved = space === 'items' ? moveItems(env, after) : moveEntries(env, after)
  const next = { done: done + moved.done, space, after: moved.last }
  if (moved.last !== undefined) return next
  return space === 'items' ? { ...next, space: 'entries', after: '' } : undefined
}

interface Moved {
  /** Records that have their new key. */
  done: number
  /** The last key that was read; undefined if nothing is left. */
  last?: string
}

function moveItems(env: Environment, after: string): Moved {
  return move(
    env.raw.items,
    after,
    (bytes) => bytes,
    (key) => rewriteHash(key, 0, HASHED_BYTES),
  )
}

/** Entries that belong to no index or TTL list are about to be removed. */
function moveEntries(env: Environment, after: string): Moved {
  const indexes = new Set<number>()
  const lists = new Set<number>()
  for (const { value } of env.meta.getRange(ALL_TABLES)) {
    const table = value as TableRecord
    for (const { id } of table.indexes) indexes.add(id)
    if (table.ttl) lists.add(table.ttl.id)
  }
  return move(env.entries, after, encodeOffset, (key, offset) => {
    const id = key.readUInt32BE(0)
    if (indexes.has(id)) rewriteHash(key, 0, HASHED_BYTES)
    if (indexes.has(id) || lists.has(id)) rewriteHash(key, offset, HASHED_BYTES)
  })
}

function encodeOffset(offset: number): Uint8Array {
  return Uint8Array.of(offset >>> 8, offset)
}

/** Moves one batch. `change` changes an old key into the new one, which has the same length. */
function move<V>(
  table: Table<V>,
  after: string,
  encode: (value: V) => Uint8Array,
  change: (key: FastBuffer, value: V) => void,
): Moved {
  const low = Buffer.concat([Buffer.from(after, 'base64'), Buffer.of(0)]) as FastBuffer
  const range = lmdbRange({ low, high: LAST_KEY }, false)
  const moves: { from: FastBuffer; to: FastBuffer; value: EncodedValue }[] = []
  let read = 0
  let bytes = 0
  let done = 0
  let last: FastBuffer | undefined
  for (const { key, value } of table.getRange(range)) {
    const from = copyOf(key.bytes, key.length)
    const to = copyOf(from, from.length)
    change(to, value)
    const order = Buffer.compare(to, from)
    if (order <= 0) done++
    if (order !== 0) {
      const encoded = encode(value)
      moves.push({ from, to, value: asValue(copyOf(encoded, encoded.length)) })
      bytes += encoded.length
    }
    if (++read < MAX_BATCH && bytes < MAX_BATCH_BYTES) continue
    last = from
    break
  }
  for (const { from, to, value } of moves) {
    void table.remove(new KeySource().ofBytes(from, 0, from.length))
    void table.put(new KeySource().ofBytes(to, 0, to.length), value)
  }
  return last ? { done, last: last.toString('base64') } : { done }
}

function copyOf(bytes: Uint8Array, length: number): FastBuffer {
  const copy = allocate(length)
  copyBytes(bytes, 0, length, copy, 0)
  return copy
}

function asValue(bytes: FastBuffer): EncodedValue {
  return Object.assign(bytes, { start: 0, end: bytes.length })
}

/** The order of items changes, so jobs that read them in this order begin again. */
function restartJobs(env: Environment): void {
  const jobs = Array.from(env.meta.getRange(ALL_JOBS))
  for (const { key, value } of jobs) {
    const job = value as Job
    if (!('after' in job)) continue
    const { after: _after, ...rest } = job
    env.meta.putSync(key, rest.kind === 'copy' ? { ...rest, isRepeated: true } : rest)
  }
}
