// The baseline: the `lmdb` package, as durable as the engine, with its default encoding and the least work
// for each case. Keys are the bytes that the engine uses, encoded before the measurement.

import { open } from 'lmdb'
import { writeItemKey } from '@strongroom/engine/storage/keys'
import type { FastBuffer } from '@strongroom/engine/storage/lmdb/bytes'
import type { System } from '../cases.ts'
import { type Key, keyOf, ORDER_PREFIX, type Order, orderOf, type Sample } from '../data.ts'
import { inParallel } from '../parallel.ts'

const KEYS = { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'S' } } as const
const scratch = Buffer.alloc(8192) as unknown as FastBuffer

function encoded(key: Key): Buffer {
  return Buffer.from(scratch.subarray(0, writeItemKey(1, KEYS, key, scratch, 0)))
}

export async function lmdbSystem(directory: string, sample: Sample): Promise<System> {
  const db = open<Order, Buffer>({
    path: directory,
    noSubdir: false,
    pageSize: 8192,
    overlappingSync: false,
    keyEncoding: 'binary',
  })
  const keys = sample.keys.map(encoded)
  const keyAt = (i: number): Buffer => keys[sample.at(i)]!
  const ranges = sample.keys.map(({ pk }) => ({
    start: encoded({ pk, sk: ORDER_PREFIX }),
    end: encoded({ pk, sk: `${ORDER_PREFIX.slice(0, -1)}$` }),
  }))
  return {
    calls: {
      get: (i) => db.get(keyAt(i)),
      put: (i) => db.put(keyAt(i), orderOf(sample.key(i), i)),
      update: (i) => {
        const key = keyAt(i)
        return db.transaction(() => {
          const order = db.get(key)
          if (order === undefined || order.stock < 1) return false
          void db.put(key, { ...order, stock: order.stock - 1 })
          return true
        })
      },
      transaction: (i) => {
        const orders = sample.three(i)
        return db.transaction(() => {
          for (let at = 0; at < 3; at++) void db.put(keyAt(3 * i + at), orders[at]!)
        })
      },
      query: (i) => {
        const orders: Order[] = []
        for (const { value } of db.getRange(ranges[sample.at(i)])) orders.push(value)
        return orders
      },
    },
    async load(items) {
      await inParallel(items, 800, async (n) => {
        await db.put(encoded(keyOf(n)), orderOf(keyOf(n)))
      })
    },
    close: () => db.close(),
  }
}
