/** Turns a data directory of this version into one of format 4, whose keys had another hash. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ALL_TABLES } from '../../src/storage/catalog.ts'
import { rewriteHash } from '../../src/storage/keys.ts'
import { allocate, copyBytes, type FastBuffer } from '../../src/storage/lmdb/bytes.ts'
import { openEnvironment } from '../../src/storage/lmdb/environment.ts'
import { type EncodedValue, KeySource, type Table } from '../../src/storage/lmdb/lmdb.ts'
import { lmdbRange } from '../../src/storage/reads.ts'
import type { TableRecord } from '../../src/storage/storage.ts'

/** The hash was of the whole partition key. */
const ALL_BYTES = Number.POSITIVE_INFINITY
const EVERYTHING = lmdbRange(
  { low: Buffer.of(0) as FastBuffer, high: allocate(16).fill(255) },
  false,
)

/** Returns how many keys are different. */
export async function restoreFormerKeys(directory: string): Promise<number> {
  const env = openEnvironment(directory)
  const lists = Array.from(env.meta.getRange(ALL_TABLES)).map(
    ({ value }) => (value as TableRecord).ttl?.id,
  )
  const moved = env.root.transactionSync(
    () =>
      move(
        env.raw.items,
        (bytes) => bytes,
        (key) => rewriteHash(key, 0, ALL_BYTES),
      ) +
      move(
        env.entries,
        (offset) => Uint8Array.of(offset >>> 8, offset),
        (key, offset) => {
          if (!lists.includes(key.readUInt32BE(0))) rewriteHash(key, 0, ALL_BYTES)
          rewriteHash(key, offset, ALL_BYTES)
        },
      ),
  )
  await env.close()
  writeFileSync(
    join(directory, 'format.json'),
    JSON.stringify({ name: 'strongroom-engine', format: 4 }),
  )
  return moved
}

function move<V>(
  table: Table<V>,
  encode: (value: V) => Uint8Array,
  change: (key: FastBuffer, value: V) => void,
): number {
  const found: { from: FastBuffer; to: FastBuffer; value: EncodedValue }[] = []
  for (const { key, value } of table.getRange(EVERYTHING)) {
    const from = copyOf(key.bytes, key.length)
    const to = copyOf(from, from.length)
    change(to, value)
    const encoded = encode(value)
    const bytes = copyOf(encoded, encoded.length)
    const stored = Object.assign(bytes, { start: 0, end: bytes.length })
    if (!to.equals(from)) found.push({ from, to, value: stored })
  }
  for (const { from, to, value } of found) {
    table.remove(new KeySource().ofBytes(from, 0, from.length))
    table.put(new KeySource().ofBytes(to, 0, to.length), value)
  }
  return found.length
}

/** LMDB reads a value from the start of its buffer, so it must not be part of a larger one. */
function copyOf(bytes: Uint8Array, length: number): FastBuffer {
  const copy = allocate(length)
  copyBytes(bytes, 0, length, copy, 0)
  return copy
}
