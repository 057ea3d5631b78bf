/**
 * Conversions of tests, to formats that do not exist. They show how one is written that rewrites every
 * item: it is not idempotent, so a batch that ran twice or not at all is seen in the items.
 */
import { requireKey } from '../../src/storage/item-keys/encrypted-value.ts'
import type { Conversion, Position } from '../../src/storage/conversions/conversion.ts'
import { conversions } from '../../src/storage/conversions/list.ts'
import { ItemWriter } from '../../src/storage/codec.ts'
import { allocate } from '../../src/storage/lmdb/bytes.ts'
import { FORMAT_VERSION } from '../../src/storage/lmdb/format.ts'
import { type EncodedValue, type Environment, KeySource } from '../../src/storage/lmdb/lmdb.ts'
import type { Item } from '../../src/values/types.ts'

const LAST_KEY = allocate(16).fill(255)
const BATCH = 10

function rewriteItems(change: (item: Item) => Item) {
  return (env: Environment, position: Position | undefined): Position | undefined => {
    const from = allocate(8192)
    const length = from.write(String(position?.['after'] ?? ''), 'base64')
    const end = new KeySource().ofBytes(LAST_KEY, 0, LAST_KEY.length)
    const start = new KeySource().ofBytes(from, 0, length)
    const range = { start, end, exclusiveStart: length > 0, limit: BATCH }
    const batch = [...env.items.getRange(range)].length
    const found: { key: Buffer; item: Item }[] = []
    for (const { key, value } of env.items.getRange(range)) {
      found.push({ key: Buffer.from(key.bytes.subarray(0, key.length)), item: requireKey(value) })
    }
    for (const { key, item } of found) {
      const writer = new ItemWriter()
      writer.reset()
      writer.item(change(item))
      const value: EncodedValue = Object.assign(writer.bytes, { start: 0, end: writer.position })
      const bytes = allocate(key.length)
      key.copy(bytes)
      env.items.put(new KeySource().ofBytes(bytes, 0, key.length), value)
    }
    if (batch < BATCH) return undefined
    const done = (position?.done ?? 0) + batch
    return { done, after: found.at(-1)!.key.toString('base64') }
  }
}

const add = (name: string) => (item: Item) => ({ ...item, [name]: Number(item[name] ?? 0) + 1 })

export const testConversions: readonly Conversion[] = [
  ...conversions,
  {
    to: FORMAT_VERSION + 1,
    summary: 'adds a third to every item',
    growth: 0.5,
    total: (env) =>
      (env.stored as unknown as { getStats(): { entryCount: number } }).getStats().entryCount,
    step: rewriteItems(add('third')),
  },
  {
    to: FORMAT_VERSION + 2,
    summary: 'adds a fourth to every item',
    growth: 0.5,
    step: rewriteItems(add('fourth')),
  },
]
