// The changes of tables that have a log: one record per change and log, under the id of the log and a
// sequence number that grows with every change in the directory. Times never decrease, even if the clock
// is set back, so the changes up to a time are those up to a sequence number.
//
//   change: log id (4) | sequence number (8)

import { setAttribute, type Item } from '../../values/types.ts'
import type { EncodedMap } from '../codec.ts'
import { allocate, type FastBuffer } from '../lmdb/bytes.ts'
import { ERASED } from '../item-keys/encrypted-value.ts'
import { writeId } from '../keys.ts'
import { KeySource, type Environment } from '../lmdb/lmdb.ts'
import { keyOf, readCurrent } from '../reads.ts'
import type { ImageView, KeySchema } from '../storage.ts'

export const SEQUENCE_KEY = 'sequence'

export interface Position {
  sequence: number
  /** Milliseconds since the epoch. */
  at: number
}

export interface Change extends Position {
  kind: 'INSERT' | 'MODIFY' | 'REMOVE'
  keys: Item
  old?: Item
  new?: Item
  /** The item was deleted because its time to live had passed. */
  expired: boolean
}

/** The stored form. Names are short because every record contains them. */
type StoredChange = Omit<Change, 'sequence' | 'expired'> & { expired?: true }

/** A change without its images. */
export function changeOf(
  keys: KeySchema,
  at: number,
  old: Item | undefined,
  item: Item | undefined,
  expired: 'expired' | undefined,
): Item {
  const change: Item = {
    at,
    kind: old === undefined ? 'INSERT' : item === undefined ? 'REMOVE' : 'MODIFY',
    keys: keyAttributes(keys, (item ?? old)!),
  }
  if (expired) change.expired = true
  return change
}

function keyAttributes({ partition, sort }: KeySchema, item: Item): Item {
  const key: Item = {}
  setAttribute(key, partition.name, item[partition.name]!)
  if (sort !== undefined) setAttribute(key, sort.name, item[sort.name]!)
  return key
}

/** The images of a change that a log with this view stores. */
export function imagesOf(
  view: ImageView,
  old: Omit<EncodedMap, 'name'> | undefined,
  item: Omit<EncodedMap, 'name'> | undefined,
): EncodedMap[] {
  const images: EncodedMap[] = []
  const hasOld = view === 'OLD_IMAGE' || view === 'NEW_AND_OLD_IMAGES'
  const hasNew = view === 'NEW_IMAGE' || view === 'NEW_AND_OLD_IMAGES'
  if (old && hasOld) images.push({ name: 'old', start: old.start, end: old.end })
  if (item && hasNew) images.push({ name: 'new', start: item.start, end: item.end })
  return images
}

const CHANGE_KEY_BYTES = 12
const MOST = 2 ** 48

export function writeChangeKey(
  log: number,
  sequence: number,
  target: FastBuffer,
  start: number,
): number {
  const end = writeId(log, target, start)
  target[end] = 0
  target[end + 1] = 0
  target.writeUIntBE(sequence, end + 2, 6)
  return end + 8
}

function changeKey(log: number, sequence: number): KeySource {
  const bytes = allocate(CHANGE_KEY_BYTES)
  writeChangeKey(log, sequence, bytes, 0)
  return new KeySource().ofBytes(bytes, 0, CHANGE_KEY_BYTES)
}

export interface ChangeRange {
  /** Exclusive sequence number. */
  after?: number
  /** Inclusive sequence number. */
  to?: number
  reverse?: boolean
  limit?: number
}

/** The changes of a log in order, read lazily from one snapshot. */
export function* readChanges(
  env: Environment,
  log: number,
  { after = 0, to = MOST - 1, reverse = false, limit }: ChangeRange,
): Iterable<Change> {
  if (to <= after) return
  const [low, high] = [changeKey(log, after + 1), changeKey(log, to)]
  const range = env.changes.getRange({
    start: reverse ? high : low,
    end: reverse ? low : high,
    reverse,
    inclusiveEnd: true,
    ...(limit !== undefined && { limit }),
  })
  for (const { key, value } of range) {
    const sequence = key.bytes.readUIntBE(6, 6)
    const found = value === ERASED ? readCurrent(env, env.changes, keyOf(key, 0)) : value
    // It was removed after the snapshot began.
    if (found === undefined) continue
    const stored = found as unknown as StoredChange
    yield { ...stored, sequence, expired: stored.expired === true }
  }
}

export function firstChange(env: Environment, log: number, after = 0): Change | undefined {
  for (const change of readChanges(env, log, { after, limit: 1 })) return change
  return undefined
}

export function lastChange(env: Environment, log: number): Change | undefined {
  for (const change of readChanges(env, log, { reverse: true, limit: 1 })) return change
  return undefined
}

/** The sequence number of the last change up to a time, or 0, by binary search. */
export function sequenceAt(env: Environment, log: number, time: number): number {
  const first = firstChange(env, log)
  const last = lastChange(env, log)
  if (first === undefined || last === undefined || first.at > time) return 0
  if (last.at <= time) return last.sequence
  let [early, late] = [first.sequence, last.sequence]
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    // All logs share the numbers, so the next change of this log may have a much higher one.
    const found = firstChange(env, log, middle - 1)!
    if (found.at <= time) early = found.sequence
    else late = middle
  }
  return early
}
