import { readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Engine } from '../../../src/engine.ts'
import { openEngine } from '../../../src/engine.ts'
import { backup, restore } from '../../../src/backup.ts'
import { checkStorage } from '../../../src/storage/check.ts'
import { convertDirectory } from '../../../src/storage/conversions/convert.ts'
import { SLOT_FILE } from '../../../src/storage/item-keys/slot-file.ts'
import { FORMAT_VERSION } from '../../../src/storage/lmdb/format.ts'
import { searchDisk } from '../../../src/testing/disk-search.ts'
import { testConversions } from '../../support/conversions.ts'
import { freshEngine, notes, plain, refusal } from '../../support/engine.ts'
import { fixedClock, temporaryDirectory } from '../../support/programs/harness.ts'

const TableName = 'plain'
const secure = { ...plain, SecureDeleteEnabled: true }

/** Cannot be there by chance. */
const CONTENT = 'the content of a secret item, 5f3c1e'

/** Small, just below a page, and with pages of its own. */
const SIZES = [100, 3000, 60_000]

const textOf = (size: number): string => CONTENT.padEnd(size, '.')

function setFormat(directory: string, format: number): void {
  const content = { name: 'strongroom-engine', format }
  writeFileSync(join(directory, 'format.json'), JSON.stringify(content))
}

async function get(engine: Engine, id: string) {
  return (await engine.getItem({ TableName, Key: { id }, ConsistentRead: true })).Item
}

const find = (engine: Engine) => searchDisk(engine.storage.directory, [CONTENT])

describe('a table with secure deletion', () => {
  test('cannot be deleted while its items are being encrypted, because they would stay on disk', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    for (let n = 0; n < 500; n++) await engine.putItem({ TableName, Item: { id: `${n}` } })
    await engine.updateTable({ TableName, SecureDeleteEnabled: true })
    const { name, message } = await refusal(engine.deleteTable({ TableName }))
    expect([name, message]).toEqual([
      'ResourceInUseException',
      `Attempt to change a resource which is still in use: Table is being updated: ${TableName}`,
    ])
    await engine.storage.settled()
    await engine.deleteTable({ TableName })
  })

  test('stores items that only its slot file opens, and reads them as they were', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    for (const size of SIZES) {
      await engine.putItem({ TableName, Item: { id: `a${size}`, text: textOf(size) } })
      expect(await get(engine, `a${size}`)).toEqual({ id: `a${size}`, text: textOf(size) })
    }
    // The search finds what is there, or it would prove nothing below.
    const { found, decrypted } = find(engine)
    expect(found).toHaveLength(SIZES.length)
    expect(found.every((place) => place.startsWith('data.mdb at'))).toBe(true)
    expect(decrypted).toBe(SIZES.length)
    rmSync(join(engine.storage.directory, SLOT_FILE))
    expect(find(engine).found).toEqual([])
  })

  test.each(SIZES)('leaves nothing of a deleted item of %i bytes', async (size) => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'a', text: textOf(size) } })
    await engine.deleteItem({ TableName, Key: { id: 'a' } })
    const { found, decrypted, candidates } = find(engine)
    expect([found, decrypted]).toEqual([[], 0])
    // The ciphertext is still there.
    expect(candidates).toBeGreaterThan(0)
  })

  test('leaves nothing of the copies that updates have made of a deleted item', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'other', text: 'stays' } })
    await engine.putItem({ TableName, Item: { id: 'a', text: textOf(500), n: 0 } })
    for (let n = 0; n < 20; n++) {
      await engine.updateItem({
        TableName,
        Key: { id: 'a' },
        UpdateExpression: 'SET n = n + :one',
        ExpressionAttributeValues: { ':one': 1 },
      })
    }
    expect(find(engine).found).toHaveLength(1)
    await engine.updateItem({
      TableName,
      Key: { id: 'a' },
      UpdateExpression: 'REMOVE #t, n',
      ExpressionAttributeNames: { '#t': 'text' },
    })
    expect(find(engine)).toMatchObject({ found: [], decrypted: 2 })
    expect(await get(engine, 'a')).toEqual({ id: 'a' })
  })

  test('leaves nothing that was replaced, deleted in a batch or a transaction, or expired', async () => {
    let now = 1_800_000_000_000
    const engine = await freshEngine({ clock: { now: () => now } })
    await engine.createTable(secure)
    await engine.updateTimeToLive({
      TableName,
      TimeToLiveSpecification: { AttributeName: 'until', Enabled: true },
    })
    const until = now / 1000 + 60
    const ids = ['put', 'batch', 'transaction', 'expiry']
    for (const id of ids)
      await engine.putItem({ TableName, Item: { id, text: textOf(400), until } })
    expect(find(engine).found).toHaveLength(ids.length)
    await engine.putItem({ TableName, Item: { id: 'put' } })
    await engine.batchWriteItem({
      RequestItems: { [TableName]: [{ DeleteRequest: { Key: { id: 'batch' } } }] },
    })
    await engine.transactWriteItems({
      TransactItems: [{ Delete: { TableName, Key: { id: 'transaction' } } }],
    })
    now += 120_000
    expect(await engine.sweep()).toBe(1)
    expect(find(engine)).toMatchObject({ found: [], decrypted: 1 })
  })

  test('leaves nothing of a deleted table, and of a deleted backup', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'a', text: textOf(400) } })
    const { BackupDetails } = await engine.createBackup({ TableName, BackupName: 'before' })
    await engine.settled()
    // A backup keeps its own copy, which does not need the key of the item.
    await engine.deleteItem({ TableName, Key: { id: 'a' } })
    expect(find(engine).found).toHaveLength(1)
    await engine.restoreTableFromBackup({
      BackupArn: BackupDetails!.BackupArn!,
      TargetTableName: 'restored',
    })
    await engine.settled()
    const { Table } = await engine.describeTable({ TableName: 'restored' })
    expect(Table).toMatchObject({ SecureDeleteEnabled: true, ItemCount: 1 })
    await engine.deleteBackup({ BackupArn: BackupDetails!.BackupArn! })
    await engine.deleteTable({ TableName: 'restored' })
    await engine.settled()
    expect(find(engine)).toMatchObject({ found: [], decrypted: 0 })
  })

  test('overwrites at the next start what a process had not overwritten when it was killed', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const killed = await openEngine({ directory, sweepIntervalMs: 0 })
    await killed.createTable(secure)
    await killed.putItem({ TableName, Item: { id: 'a', text: textOf(400) } })
    await killed.putItem({ TableName, Item: { id: 'b', text: 'stays' } })
    const { keys } = killed.storage.environment
    keys.complete = async () => {}
    await killed.deleteItem({ TableName, Key: { id: 'a' } })
    await killed.close()
    expect(searchDisk(directory, [CONTENT]).found).toHaveLength(1)
    const next = await openEngine({ directory, sweepIntervalMs: 0 })
    await next.settled()
    expect(find(next)).toMatchObject({ found: [], decrypted: 1 })
    expect(await get(next, 'b')).toEqual({ id: 'b', text: 'stays' })
    await next.close()
  })

  test('reuses slots, so the slot file does not grow with the number of writes', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    for (let round = 0; round < 300; round++) {
      await Promise.all(
        ['a', 'b', 'c'].map((id) => engine.putItem({ TableName, Item: { id, round } })),
      )
    }
    expect(statSync(join(engine.storage.directory, SLOT_FILE)).size).toBeLessThan(512 * 32)
    expect((await checkStorage(engine.storage)).problems).toEqual([])
  })

  test('acknowledges a deletion only after a failed overwrite is reported', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'a' } })
    const { keys } = engine.storage.environment
    const complete = keys.complete.bind(keys)
    keys.complete = () => Promise.reject(new Error('EIO: i/o error, fdatasync'))
    const failure = await refusal(engine.deleteItem({ TableName, Key: { id: 'a' } }))
    expect(failure.message).toMatch(/The request was stored\. Check the disk and start again/)
    keys.complete = complete
    expect(await get(engine, 'a')).toBeUndefined()
  })

  test('a reader with an older snapshot gets the current item instead of one without a key', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...notes, SecureDeleteEnabled: true })
    const item = (sk: number, more: object = {}) => ({
      pk: 'p',
      sk,
      owner: 'ada',
      since: sk,
      ...more,
    })
    for (let sk = 0; sk < 6; sk++) await engine.putItem({ TableName: 'notes', Item: item(sk) })
    const { storage } = engine
    const table = storage.table('notes')!
    const ranges = [
      storage.range(table, undefined, { partition: 'p' }),
      storage.range(table, table.indexes[0], { partition: 'ada' }),
    ].map((range) => range[Symbol.iterator]())
    const first = ranges.map((range) => range.next().value as object)
    expect(first).toEqual([item(0), item(0)])
    await engine.putItem({ TableName: 'notes', Item: item(2, { title: 'new' }) })
    await engine.deleteItem({ TableName: 'notes', Key: { pk: 'p', sk: 3 } })
    await engine.putItem({ TableName: 'notes', Item: item(4, { owner: 'eve' }) })
    const rest = ranges.map((range) => {
      const items: object[] = []
      for (let next = range.next(); !next.done; next = range.next()) items.push(next.value)
      return items
    })
    const replaced = item(2, { title: 'new' })
    expect(rest[0]).toEqual([item(1), replaced, item(4, { owner: 'eve' }), item(5)])
    expect(rest[1]).toEqual([item(1), replaced, item(5)])
  })

  test('a missing slot file is reported before anything is read', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const engine = await openEngine({ directory, sweepIntervalMs: 0 })
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'a' } })
    await engine.close()
    rmSync(join(directory, SLOT_FILE))
    await expect(openEngine({ directory })).rejects.toThrow(
      `${SLOT_FILE} is missing, which has the keys of encrypted items: put it back, or restore a backup`,
    )
  })

  test('the check reports an item whose key does not fit', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    await engine.putItem({ TableName, Item: { id: 'a' } })
    expect((await checkStorage(engine.storage)).problems).toEqual([])
    truncateSync(join(engine.storage.directory, SLOT_FILE), 0)
    const { problems } = await checkStorage(engine.storage)
    expect(problems).toContainEqual(expect.stringContaining('its key is missing or does not fit'))
    await expect(get(engine, 'a')).rejects.toThrow('its key is missing or does not fit')
  })
})

describe('the option', () => {
  test('is described, cannot be turned off, and excludes logs that keep items', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    const { Table } = await engine.describeTable({ TableName })
    expect(Table).toMatchObject({ SecureDeleteEnabled: true, TableStatus: 'ACTIVE' })
    const refused = [
      engine.updateTable({ TableName, SecureDeleteEnabled: false }),
      engine.updateTable({
        TableName,
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'OLD_IMAGE' },
      }),
      engine.updateContinuousBackups({
        TableName,
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      }),
      engine.createTable({
        ...secure,
        TableName: 'other',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
      }),
    ]
    for (const call of refused) {
      expect(await refusal(call)).toMatchObject({ name: 'ValidationException' })
    }
    await engine.updateTable({
      TableName,
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' },
    })
  })

  test('encrypts the items that a table had, and overwrites what they were', async () => {
    const engine = await freshEngine({ encrypted: false })
    await engine.createTable(plain)
    await engine.createTable(notes)
    const items = Array.from({ length: 250 }, (_, i) => ({
      id: `i${i}`,
      text: textOf(SIZES[i % 3]! / 2),
    }))
    for (const Item of items) await engine.putItem({ TableName, Item })
    for (let sk = 0; sk < 300; sk++) {
      await engine.putItem({
        TableName: 'notes',
        Item: { pk: `p${sk % 7}`, sk, title: `note ${sk}` },
      })
    }
    for (const { id } of items.slice(0, 100)) await engine.deleteItem({ TableName, Key: { id } })
    await engine.updateTable({ TableName, SecureDeleteEnabled: true })
    await engine.settled()
    const { Table } = await engine.describeTable({ TableName })
    expect(Table).toMatchObject({ TableStatus: 'ACTIVE', ItemCount: 150 })
    for (const item of items.slice(100)) expect(await get(engine, item.id)).toEqual(item)
    expect((await checkStorage(engine.storage)).problems).toEqual([])
    const { found } = find(engine)
    expect(found.filter((place) => place.endsWith('readable'))).toEqual([])
    expect((await engine.scan({ TableName: 'notes' })).Count).toBe(300)
    for (const { id } of items.slice(100)) await engine.deleteItem({ TableName, Key: { id } })
    expect(find(engine)).toMatchObject({ found: [], decrypted: 0 })
  })

  test('leaves nothing in the copy that a conversion made of a table, and leaves its other tables', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const older = await openEngine({ directory, sweepIntervalMs: 0 })
    await older.createTable(plain)
    await older.createTable({ ...plain, TableName: 'other' })
    for (let n = 0; n < 30; n++) {
      await older.putItem({ TableName, Item: { id: `i${n}`, text: textOf(SIZES[n % 3]!) } })
      await older.putItem({ TableName: 'other', Item: { id: `i${n}`, n } })
    }
    await older.close()
    setFormat(directory, 3)
    const engine = await openEngine({ directory, sweepIntervalMs: 0, clock: fixedClock() })
    const copy = join(directory, 'backup-format-3-20261115T200000Z')
    expect(searchDisk(copy, [CONTENT]).found).toEqual(['data.mdb, readable'])
    await engine.updateTable({ TableName, SecureDeleteEnabled: true })
    await engine.settled()
    for (let n = 0; n < 30; n++) await engine.deleteItem({ TableName, Key: { id: `i${n}` } })
    // The copies are searched, too.
    expect(find(engine)).toMatchObject({ found: [], decrypted: 0 })
    await engine.close()

    expect(readdirSync(copy).toSorted()).toEqual(['data.mdb', 'format.json'])
    setFormat(copy, FORMAT_VERSION)
    const copied = await openEngine({ directory: copy, sweepIntervalMs: 0 })
    expect((await copied.scan({ TableName })).Count).toBe(0)
    expect((await copied.scan({ TableName: 'other' })).Count).toBe(30)
    expect((await checkStorage(copied.storage)).problems).toEqual([])
    await copied.close()
  })

  test('keeps its items out of later copies, which open without the slot file', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const engine = await openEngine({ directory, sweepIntervalMs: 0 })
    await engine.createTable(secure)
    await engine.createTable({ ...plain, TableName: 'other' })
    await engine.putItem({ TableName, Item: { id: 'a', text: textOf(400) } })
    await engine.putItem({ TableName: 'other', Item: { id: 'a' } })
    await engine.close()
    await convertDirectory(directory, { conversions: testConversions, clock: fixedClock() })
    const copy = join(directory, `backup-format-${FORMAT_VERSION}-20261115T200000Z`)
    const copied = await openEngine({ directory: copy, sweepIntervalMs: 0 })
    expect((await copied.scan({ TableName })).Count).toBe(0)
    expect((await copied.scan({ TableName: 'other' })).Count).toBe(1)
    expect((await checkStorage(copied.storage)).problems).toEqual([])
    await copied.close()
  })

  test('is part of a backup file, which has the items that exist, and of what is restored from it', async () => {
    const engine = await freshEngine()
    await engine.createTable(secure)
    for (const id of ['a', 'b'])
      await engine.putItem({ TableName, Item: { id, text: textOf(400) } })
    await engine.deleteItem({ TableName, Key: { id: 'b' } })
    const file = join(temporaryDirectory(), 'backup')
    expect(await backup(engine.storage, { file })).toMatchObject({
      tables: [{ name: TableName, items: 1 }],
    })
    const directory = join(temporaryDirectory(), 'restored')
    await restore({ file, directory })
    const restored = await openEngine({ directory, sweepIntervalMs: 0 })
    expect(await get(restored, 'a')).toEqual({ id: 'a', text: textOf(400) })
    const { Table } = await restored.describeTable({ TableName })
    expect(Table).toMatchObject({ SecureDeleteEnabled: true, ItemCount: 1 })
    expect(searchDisk(directory, [CONTENT]).found).toEqual([expect.stringContaining('data.mdb at')])
    await restored.deleteItem({ TableName, Key: { id: 'a' } })
    expect(find(restored)).toMatchObject({ found: [], decrypted: 0 })
    await restored.close()
  })
})
