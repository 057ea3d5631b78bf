import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { backupAttachment, backupItems } from '../src/backup-contents.ts'
import { backup, type Progress, restore } from '../src/backup.ts'
import { checkStorage } from '../src/storage/check.ts'
import { DataError } from '../src/storage/lmdb/failures.ts'
import { openStorage, type OpenStorage } from '../src/storage/open-storage.ts'
import type { Item } from '../src/values/types.ts'
import { NumberValue, setAttribute } from '../src/values/types.ts'
import {
  COUNTERS,
  fixedClock,
  NOW,
  ORDERS,
  temporaryDirectory,
  temporaryStorage,
} from './support/programs/harness.ts'

const SECRET = 'never-in-a-backup'

async function filled(): Promise<OpenStorage> {
  const storage = temporaryStorage()
  const orders = await storage.createTable({ ...ORDERS, ttl: { attribute: 'expires' } })
  const secrets = await storage.createTable({ ...COUNTERS, name: 'secrets' })
  await storage.createTable({ ...COUNTERS, name: 'empty', details: { tags: { a: 'b' } } })
  await storage.write((tx) => {
    for (let i = 0; i < 1200; i++) {
      const item: Item = {
        customer: `c${i % 7}`,
        order: `${i}`,
        status: 'open',
        total: i,
        expires: NOW / 1000 + i,
        blob: Buffer.from([0, i & 255]),
        set: new Set([new NumberValue('1e-120'), i]),
      }
      setAttribute(item, '__proto__', { nested: [null, true] })
      tx.put(orders, item, undefined)
    }
    tx.put(secrets, { id: SECRET }, undefined)
  })
  return storage
}

function allItems(storage: OpenStorage, name: string): Item[] {
  return [...storage.range(storage.table(name)!, undefined, {})]
}

function openRestored(directory: string): OpenStorage {
  const storage = openStorage({ directory, sweepIntervalMs: 0 })
  onTestFinished(() => storage.close())
  return storage
}

describe('a backup', () => {
  test('restores to the same tables, items and indexes', async () => {
    const storage = await filled()
    const directory = temporaryDirectory()
    const file = join(directory, 'backup')
    const manifest = await backup(storage, { file, clock: fixedClock() })
    expect(manifest).toMatchObject({
      format: 2,
      createdAt: NOW,
      tables: [
        { name: 'empty', items: 0 },
        { name: 'orders', items: 1200 },
        { name: 'secrets', items: 1 },
      ],
      excluded: [],
      attachments: [],
    })
    const target = join(directory, 'restored')
    await restore({ file, directory: target })
    const restored = openRestored(target)
    for (const { name } of manifest.tables) {
      expect(allItems(restored, name)).toEqual(allItems(storage, name))
      const [before, after] = [storage.table(name)!, restored.table(name)!]
      expect(after).toMatchObject({ keys: before.keys, createdAt: before.createdAt })
      expect(after.details).toEqual(before.details)
      expect(after.indexes.map((index) => index.name)).toEqual(before.indexes.map((i) => i.name))
      expect(after.ttl?.attribute).toBe(before.ttl?.attribute)
    }
    expect(await checkStorage(restored)).toEqual({ items: 1201, entries: 2400, problems: [] })
  })

  test('is one moment: writes that go on while it is taken are in it whole or not at all', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    const text = 'x'.repeat(3000)
    await storage.write((tx) => {
      for (let i = 0; i < 2000; i++) tx.put(table, { id: `${i}`, n: 0, text }, undefined)
    })
    const directory = temporaryDirectory()
    const file = join(directory, 'backup')
    const backingUp = new AbortController()
    const writing = (async () => {
      for (let n = 1; !backingUp.signal.aborted; n++) {
        await storage.write((tx) => {
          for (const id of ['0', '999', '1999']) {
            tx.put(table, { id, n, text }, tx.get(table, { id }))
          }
        })
      }
    })()
    await backup(storage, { file })
    backingUp.abort()
    await writing
    await restore({ file, directory: join(directory, 'restored') })
    const items = allItems(openRestored(join(directory, 'restored')), 'counters')
    expect(items).toHaveLength(2000)
    const written = ['0', '999', '1999'].map((id) => items.find((item) => item['id'] === id)?.['n'])
    expect(new Set(written).size).toBe(1)
  })

  test('leaves out excluded tables without a trace', async () => {
    const storage = await filled()
    const file = join(temporaryDirectory(), 'backup')
    const manifest = await backup(storage, { file, exclude: ['secrets', 'unknown'] })
    expect(manifest.excluded).toEqual(['secrets'])
    expect(readFileSync(file).includes(SECRET)).toBe(false)
    await restore({ file, directory: `${file}.restored` })
    const restored = openRestored(`${file}.restored`)
    expect(restored.tables().map((table) => table.name)).toEqual(['empty', 'orders'])
  })

  test('can be looked into, table by table', async () => {
    const path = await backupFile()
    const items = async (table: string) => {
      const found: Item[] = []
      for await (const item of backupItems(path, (name) => name === table)) found.push(item)
      return found
    }
    expect(await items('secrets')).toEqual([{ id: SECRET }])
    expect(await items('orders')).toHaveLength(1200)
    expect(await items('empty')).toEqual([])
    expect(await items('unknown')).toEqual([])
  })

  test('cannot take the place of a directory, and leaves nothing behind', async () => {
    const storage = await filled()
    const directory = temporaryDirectory()
    const file = join(directory, 'taken')
    mkdirSync(file)
    await expect(backup(storage, { file })).rejects.toThrow(DataError)
    await expect(backup(storage, { file })).rejects.toThrow(`Cannot write the backup "${file}"`)
    expect(readdirSync(directory)).toEqual(['taken'])
  })

  test('carries what belongs to the data and is no table', async () => {
    const storage = await filled()
    const file = join(temporaryDirectory(), 'backup')
    const content = Buffer.from([0, 1, 254, 255])
    const manifest = await backup(storage, { file, attachments: [{ name: 'extra', content }] })
    expect(manifest.attachments).toEqual(['extra'])
    expect(await backupAttachment(file, 'extra')).toEqual({ name: 'extra', content })
    expect(await backupAttachment(file, 'other')).toBeUndefined()
    await restore({ file, directory: `${file}.restored` })
    expect(openRestored(`${file}.restored`).tables()).toHaveLength(3)
  })

  test('reports progress, and so does a restore', async () => {
    const storage = await filled()
    const file = join(temporaryDirectory(), 'backup')
    const seen: string[] = []
    const onProgress = ({ table, items, isWhole }: Progress): void => {
      seen.push(`${table} ${items}${isWhole ? '' : ' so far'}`)
    }
    await backup(storage, { file, onProgress })
    expect(seen).toEqual(['empty 0', 'orders 1200', 'secrets 1'])
    seen.length = 0
    await restore({ file, directory: `${file}.restored`, onProgress })
    expect(seen).toEqual([
      'empty 0',
      'orders 500 so far',
      'orders 1000 so far',
      'orders 1200',
      'secrets 1',
    ])
  })

  test('can be read by its owner only, and appears only when it is complete', async () => {
    const storage = await filled()
    const directory = temporaryDirectory()
    const file = join(directory, 'backup')
    await backup(storage, { file })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(directory)).toEqual(['backup'])
    const missing = join(directory, 'missing', 'backup')
    await expect(backup(storage, { file: missing })).rejects.toThrow('ENOENT')
    expect(readdirSync(directory)).toEqual(['backup'])
  })
})

async function backupFile(): Promise<string> {
  const path = join(temporaryDirectory(), 'backup')
  await backup(await filled(), { file: path })
  return path
}

/** The error of a failed restore; also checks that it left nothing. */
async function refusal(path: string): Promise<string> {
  const directory = join(dirname(path), 'restored')
  try {
    await restore({ file: path, directory })
    return 'restored'
  } catch (error) {
    const left = readdirSync(dirname(path)).find((name) => name.includes('restor'))
    return left ?? (error as Error).message
  }
}

/** A change with a matching checksum: only the content checks can notice it. */
function rewrite(path: string, change: (bytes: Buffer) => Buffer): void {
  const body = change(readFileSync(path).subarray(0, -32))
  writeFileSync(path, Buffer.concat([body, createHash('sha256').update(body).digest()]))
}

describe('a backup of tables with a past', () => {
  const HOUR_MS = 3_600_000

  test('leaves the past out, and restores streams and recovery that begin anew', async () => {
    const storage = temporaryStorage()
    const logs = [
      { kind: 'stream', view: 'NEW_IMAGE', keepMs: HOUR_MS },
      { kind: 'recovery', view: 'OLD_IMAGE', keepMs: HOUR_MS },
    ] as const
    const table = await storage.createTable({ ...COUNTERS, logs: [...logs] })
    await storage.overwrite(table, { id: 'a', n: 1 })
    await storage.backups.create('kept in the directory only', table)
    await storage.settled()
    const file = join(temporaryDirectory(), 'backup')
    await backup(storage, { file, clock: fixedClock() })
    const directory = join(temporaryDirectory(), 'restored')
    await restore({ file, directory })
    const restored = openRestored(directory)
    const found = restored.table('counters')
    expect(found?.logs).toMatchObject(logs)
    expect(restored.backups.all()).toEqual([])
    const [stream] = restored.streams.all()
    expect(stream?.createdAt).toBeGreaterThan(NOW - 40 * 24 * HOUR_MS)
    expect([...restored.streams.changes(stream!, 0, 10)]).toEqual([])
    await restored.overwrite(found!, { id: 'a', n: 2 })
    restored.refresh()
    expect([...restored.streams.changes(stream!, 0, 10)]).toMatchObject([
      { kind: 'MODIFY', new: { id: 'a', n: 2 } },
    ])
  })

  test('leaves out a table that is still being made of a backup', async () => {
    const storage = temporaryStorage()
    const table = await storage.createTable(COUNTERS)
    await storage.write((tx) => {
      for (let n = 0; n < 1000; n++) tx.put(table, { id: `${n}`, n }, undefined)
    })
    const kept = await storage.backups.create('backup', table)
    await storage.settled()
    const target = { ...COUNTERS, name: 'restoring' }
    await storage.backups.restore(kept, target, (state) => new Error(state))
    const file = join(temporaryDirectory(), 'backup')
    const { tables } = await backup(storage, { file, clock: fixedClock() })
    expect(tables).toEqual([{ name: 'counters', items: 1000 }])
    await storage.settled()
    expect(storage.count(storage.table('restoring')!)).toBe(1000)
  })
})

describe('restoring is refused, and leaves nothing behind,', () => {
  test('if a single bit was changed, anywhere', async () => {
    const path = await backupFile()
    const { size } = statSync(path)
    for (const at of [30, 500, size >> 1, size - 40, size - 1]) {
      const damaged = `${path}.damaged`
      copyFileSync(path, damaged)
      const bytes = readFileSync(damaged)
      bytes[at]! ^= 1
      writeFileSync(damaged, bytes)
      expect(await refusal(damaged)).toContain('Cannot restore the backup')
    }
  })

  test('if the file was cut off, or is something else, or is missing', async () => {
    const path = await backupFile()
    const { size } = statSync(path)
    truncateSync(path, size - 100)
    expect(await refusal(path)).toContain('it is damaged or cut off: its checksum does not match')
    truncateSync(path, 25)
    expect(await refusal(path)).toContain('its header is damaged')
    writeFileSync(path, 'hello')
    expect(await refusal(path)).toContain('it is not a backup')
    expect(await refusal(`${path}.missing`)).toContain('it cannot be read')
  })

  test('if its format is newer, with both versions named', async () => {
    const path = await backupFile()
    rewrite(path, (bytes) =>
      Buffer.from(bytes.toString('latin1').replace('"format":2', '"format":7'), 'latin1'),
    )
    expect(await refusal(path)).toContain(
      'its format version is 7, and this engine knows versions 1 to 2 only',
    )
  })

  test('not if its format is the one before', async () => {
    const path = await backupFile()
    rewrite(path, (bytes) =>
      Buffer.from(bytes.toString('latin1').replaceAll('"format":2', '"format":1'), 'latin1'),
    )
    const directory = join(temporaryDirectory(), 'restored')
    expect((await restore({ file: path, directory })).format).toBe(1)
  })

  test('if an item does not decode, or items are missing, although the checksum is right', async () => {
    const path = await backupFile()
    rewrite(path, (bytes) => {
      const at = bytes.indexOf('customer', bytes.indexOf('customer') + 300)
      const changed = Buffer.from(bytes)
      changed[at - 1] = 200
      return changed
    })
    expect(await refusal(path)).toContain('Cannot')
    const other = await backupFile()
    rewrite(other, (bytes) => {
      const text = bytes
        .toString('latin1')
        .replace('{"name":"orders","items":1200}', '{"name":"orders","items":1201}')
      return Buffer.from(text, 'latin1')
    })
    expect(await refusal(other)).toContain('table "orders" has 1200 items instead of 1201')
  })

  test('if the directory is not empty', async () => {
    const path = await backupFile()
    const directory = join(dirname(path), 'occupied')
    mkdirSync(directory)
    writeFileSync(join(directory, 'mine'), 'x')
    await expect(restore({ file: path, directory })).rejects.toThrow('is not empty')
    expect(readdirSync(directory)).toEqual(['mine'])
  })

  test('if another process creates data in the directory, which is kept', async () => {
    const path = await backupFile()
    const directory = join(dirname(path), 'begun')
    const onVerified = async () => {
      const storage = openStorage({ directory, sweepIntervalMs: 0 })
      await storage.createTable(COUNTERS)
      await storage.close()
    }
    await expect(restore({ file: path, directory, onVerified })).rejects.toThrow('is not empty')
    const kept = openStorage({ directory, sweepIntervalMs: 0 })
    onTestFinished(() => kept.close())
    expect(kept.tables().map(({ name }) => name)).toEqual(['counters'])
  })

  test('if the caller rejects it after verification', async () => {
    const path = await backupFile()
    const directory = join(dirname(path), 'refused')
    const onVerified = async () => {
      expect(readdirSync(dirname(path))).toEqual(['backup'])
      throw new Error('not this one')
    }
    await expect(restore({ file: path, directory, onVerified })).rejects.toThrow('not this one')
    expect(readdirSync(dirname(path))).toEqual(['backup'])
  })

  test('but files that are listed as allowed are accepted and left unchanged', async () => {
    const path = await backupFile()
    const directory = join(dirname(path), 'shared')
    mkdirSync(join(directory, 'keys'), { recursive: true })
    writeFileSync(join(directory, 'keys', 'mine'), 'x')
    await restore({ file: path, directory, beside: ['keys'] })
    expect(openRestored(directory).tables()).toHaveLength(3)
    expect(readFileSync(join(directory, 'keys', 'mine'), 'utf8')).toBe('x')
    expect(readdirSync(dirname(path)).toSorted()).toEqual(['backup', 'shared'])
  })

  test('but an empty directory is accepted', async () => {
    const path = await backupFile()
    const directory = join(dirname(path), 'empty')
    mkdirSync(directory)
    await restore({ file: path, directory })
    expect(openRestored(directory).tables()).toHaveLength(3)
  })
})
