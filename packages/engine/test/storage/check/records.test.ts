import { describe, expect, test } from 'vitest'
import { boundsOfId } from '../../../src/storage/bounds.ts'
import { checkDirectory } from '../../../src/storage/check/directory.ts'
import { allocate, type FastBuffer } from '../../../src/storage/lmdb/bytes.ts'
import { KeySource, type Table } from '../../../src/storage/lmdb/lmdb.ts'
import type { OpenStorage } from '../../../src/storage/open-storage.ts'
import { lmdbRange } from '../../../src/storage/reads.ts'
import type { TableRecord } from '../../../src/storage/storage.ts'
import { damageRecords, filledDirectory } from '../../support/checked-directory.ts'

function orders(storage: OpenStorage): TableRecord {
  return storage.table('orders')!
}

function backupId(storage: OpenStorage): number {
  return storage.backups.all()[0]!.id
}

function logId(storage: OpenStorage, kind: 'recovery' | 'stream'): number {
  return orders(storage).logs!.find((log) => log.kind === kind)!.id
}

/** The first key of an id. */
function firstKey(table: Table<unknown>, id: number): FastBuffer {
  for (const { bytes, length } of table.getKeys({ ...lmdbRange(boundsOfId(id), false), limit: 1 }))
    return Buffer.from(bytes.subarray(0, length)) as FastBuffer
  throw new Error('There is no such key')
}

function put(table: Table<unknown>, key: Buffer, value: Uint8Array): void {
  const bytes = Object.assign(allocate(value.length), { start: 0, end: value.length })
  bytes.set(value)
  table.put(new KeySource().ofBytes(key as FastBuffer, 0, key.length), bytes)
}

function remove(table: Table<unknown>, key: FastBuffer): void {
  table.remove(new KeySource().ofBytes(key, 0, key.length))
}

/** Stores what the first key of an id has under another key. */
function move(table: Table<unknown>, id: number, change: (key: FastBuffer) => void): void {
  const key = firstKey(table, id)
  const moved = Buffer.from(key) as FastBuffer
  change(moved)
  put(table, moved, Buffer.of(0, 20))
}

const UNREADABLE = Buffer.of(1, 0, 0, 0, 1, 1)

/** What is damaged, how, and what the check says first. */
const damages: [string, (storage: OpenStorage) => void, string | RegExp][] = [
  [
    'an item',
    (storage) => {
      const { items } = storage.environment
      put(items, firstKey(items, orders(storage).id), UNREADABLE)
    },
    /^item restore: An item of table "orders" cannot be read: /,
  ],
  [
    'an item under the key of another one',
    (storage) => {
      const { items, raw } = storage.environment
      const key = firstKey(items, orders(storage).id)
      const stored = raw.items.get(new KeySource().ofBytes(key, 0, key.length))!
      // The bytes of a read are the beginning of a longer buffer.
      const value = Buffer.from(stored.subarray(0, stored.length))
      key[key.length - 1]! ^= 0x40
      put(items, key, value)
    },
    'item restore: An item of table "orders" is stored under a key that is not its own',
  ],
  [
    'an item of no table',
    ({ environment: { items } }) =>
      put(items, Buffer.from('0000ffff000000', 'hex'), UNREADABLE.fill(0)),
    /^item restore: An item of id 65535 cannot be read/,
  ],
  [
    'an item that is missing',
    (storage) => {
      const { items } = storage.environment
      remove(items, firstKey(items, orders(storage).id))
    },
    /^count restore: Table "orders" has 500 items of \d+ bytes, but its stored count is 501 items/,
  ],
  [
    'an index entry that is missing',
    (storage) => {
      const { entries } = storage.environment
      remove(entries, firstKey(entries, orders(storage).indexes[0]!.id))
    },
    'index rebuild: An item of table "orders" has no entry in index "by-status"',
  ],
  [
    'an index entry with a wrong offset',
    (storage) => {
      const { entries } = storage.environment
      put(entries, firstKey(entries, orders(storage).indexes[0]!.id), Buffer.of(0xff, 0xff))
    },
    'index rebuild: An item of table "orders" has no entry in index "by-status"',
  ],
  [
    'an index entry of no item',
    (storage) =>
      move(storage.environment.entries, orders(storage).indexes[0]!.id, (key) => {
        key[key.length - 1]! ^= 0x40
      }),
    'index rebuild: An entry in index "by-status" of table "orders" does not belong to any item',
  ],
  [
    'a TTL entry that is missing',
    (storage) => {
      const { entries } = storage.environment
      remove(entries, firstKey(entries, orders(storage).ttl!.id))
    },
    'ttl rebuild: An item of table "orders" has no entry in the TTL list on "expires"',
  ],
  [
    'a TTL entry with another time',
    (storage) =>
      move(storage.environment.entries, orders(storage).ttl!.id, (key) => (key[9]! ^= 1)),
    'ttl rebuild: An entry in the TTL list on "expires" of table "orders" does not belong to any item',
  ],
  [
    'a change of a recovery log',
    (storage) => {
      const { changes } = storage.environment
      put(changes, firstKey(changes, logId(storage, 'recovery')), UNREADABLE)
    },
    /^change rebuild: A change of id \d+ cannot be read/,
  ],
  [
    'a change without its images',
    (storage) => {
      const { changes } = storage.environment
      put(changes, firstKey(changes, logId(storage, 'recovery')), Buffer.of(1, 0, 0, 0, 0))
    },
    'change rebuild: A change in the recovery log of table "orders" has no time, or that of an earlier one',
  ],
  [
    'a change of a stream that is newer than the last one',
    (storage) => {
      const { changes, stored: _stored } = storage.environment
      const key = firstKey(changes, logId(storage, 'stream'))
      key[5] = 1
      put(changes, key, Buffer.of(1, 0, 0, 0, 0))
    },
    'change rebuild: A change in the stream of table "orders" has a wrong number',
  ],
  [
    'the position of the last change',
    ({ environment: { meta } }) => meta.putSync('sequence', { sequence: 'many' }),
    'change rebuild: The record "sequence" of the catalog is damaged',
  ],
  [
    'a stream',
    (storage) => {
      const id = logId(storage, 'stream')
      storage.environment.meta.putSync(['stream', id], { id, tableName: 'orders' })
    },
    /^stream rebuild: The record of stream \d+ is damaged/,
  ],
  [
    'a stream that is missing',
    (storage) => void storage.environment.meta.removeSync(['stream', logId(storage, 'stream')]),
    'stream rebuild: The stream of table "orders" has no record',
  ],
  [
    'a table',
    (storage) => {
      const { id, name } = orders(storage)
      storage.environment.meta.putSync(['table', 'orders'], { id, name, keys: {}, indexes: [] })
    },
    'catalog restore: The record of table "orders" is damaged',
  ],
  [
    'a table under another name',
    (storage) => storage.environment.meta.putSync(['table', 'other'], orders(storage)),
    'catalog restore: The record of table "other" is damaged',
  ],
  [
    'a table that is missing',
    ({ environment: { meta } }) => void meta.removeSync(['table', 'orders']),
    /^stream rebuild: A stream of table "orders" is open/,
  ],
  [
    'the counter of ids',
    ({ environment: { meta } }) => meta.putSync('next-id', 2),
    /^catalog restore: .* has an id that will be assigned again/,
  ],
  [
    'a record of an unknown kind',
    ({ environment: { meta } }) => meta.putSync(['surprise', 1], {}),
    'catalog restore: The catalog has a record of an unknown kind',
  ],
  [
    'a job',
    ({ environment: { meta } }) => meta.putSync(['job', 5000], { kind: 'fill' }),
    'job rebuild: The record of job 5000 is damaged',
  ],
  [
    'a token',
    ({ environment: { meta } }) => meta.putSync(['token', 'token'], { hash: 5 }),
    'token rebuild: The record of an idempotency token is damaged',
  ],
  [
    'a backup',
    (storage) => {
      const id = backupId(storage)
      storage.environment.meta.putSync(['backup', id], { id, name: 'kept' })
    },
    /^backup rebuild: The record of backup \d+ is damaged/,
  ],
  [
    'an item of a backup',
    (storage) => {
      const { items } = storage.environment
      put(items, firstKey(items, backupId(storage)), UNREADABLE)
    },
    /^backup rebuild: An item of backup "kept" cannot be read/,
  ],
  [
    'an item of a backup that is missing',
    (storage) => {
      const { items } = storage.environment
      remove(items, firstKey(items, backupId(storage)))
    },
    /^count rebuild: Backup "kept" has 500 items of \d+ bytes, but its stored count is 501 items/,
  ],
  [
    'the count of a table',
    (storage) => {
      const key = ['count', orders(storage).id]
      storage.environment.meta.putSync(key, { items: 7, bytes: 8 })
    },
    /^count rebuild: Table "orders" has 501 items of \d+ bytes, but its stored count is 7 items of 8 bytes/,
  ],
  [
    'the count of an index',
    (storage) =>
      void storage.environment.meta.removeSync(['count', orders(storage).indexes[0]!.id]),
    /^count rebuild: Index "by-status" of table "orders" has 500 items/,
  ],
  [
    'a count that is not a number',
    (storage) => {
      const key = ['count', orders(storage).id]
      storage.environment.meta.putSync(key, { items: 'seven' })
    },
    /^count rebuild: The record of count \d+ is damaged/,
  ],
  [
    'a count of nothing',
    ({ environment: { meta } }) => meta.putSync(['count', 4999], { items: 1, bytes: 1 }),
    'count rebuild: A count belongs to no table or index (id 4999)',
  ],
]

describe('damaged records', () => {
  test.each(damages)('%s is named', async (_, damage, expected) => {
    const directory = await filledDirectory()
    await damageRecords(directory, damage)
    const { problems } = await checkDirectory(directory)
    const texts = problems.map(({ kind, remedy, message }) => `${kind} ${remedy}: ${message}`)
    expect(texts[0]).toMatch(expected)
  })

  test('a record of the catalog that is not JSON is named', async () => {
    const directory = await filledDirectory()
    await damageRecords(directory, ({ environment: { root } }) => {
      const raw = root.openDB<Uint8Array>('meta', { encoding: 'binary' })
      raw.putSync(['table', 'orders'], Buffer.from('{"half":'))
      raw.putSync(['job', 1], Buffer.from('garbage'))
    })
    const { problems } = await checkDirectory(directory)
    expect(problems.slice(0, 2)).toEqual([
      { kind: 'job', remedy: 'restore', message: 'The record of job 1 cannot be read' },
      {
        kind: 'catalog',
        remedy: 'restore',
        message: 'The record of table "orders" cannot be read',
      },
    ])
  })

  test('at most a hundred problems are reported', async () => {
    const directory = await filledDirectory()
    await damageRecords(directory, ({ environment: { meta } }) => {
      for (let id = 0; id < 300; id++) meta.putSync(['count', 5000 + id], { items: 1, bytes: 1 })
    })
    expect((await checkDirectory(directory)).problems).toHaveLength(100)
  })
})
