/** Data directories of format 4, whose keys had the hash of the whole partition key. */
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Engine, openEngine } from '../../../src/engine.ts'
import { checkStorage } from '../../../src/storage/check.ts'
import { convertDirectory } from '../../../src/storage/conversions/convert.ts'
import { ALL_JOBS } from '../../../src/storage/jobs/jobs.ts'
import { FORMAT_VERSION, readFormat, writeFormat } from '../../../src/storage/lmdb/format.ts'
import { openStorage } from '../../../src/storage/open-storage.ts'
import type { NewTable } from '../../../src/storage/storage.ts'
import type { Item } from '../../../src/values/types.ts'
import { restoreFormerKeys } from '../../support/former-keys.ts'
import {
  bundle,
  fixedClock,
  NOW,
  start,
  temporaryDirectory,
} from '../../support/programs/harness.ts'

const ITEMS = 1500
const expires = Math.floor(NOW / 1000) + 3600

const EVENTS: NewTable = {
  name: 'events',
  keys: { partition: { name: 'pk', type: 'S' }, sort: { name: 'sk', type: 'N' } },
  indexes: [
    {
      name: 'by-owner',
      kind: 'global',
      keys: { partition: { name: 'owner', type: 'S' }, sort: { name: 'since', type: 'S' } },
      projection: { type: 'ALL' },
    },
    {
      name: 'by-since',
      kind: 'local',
      keys: { partition: { name: 'pk', type: 'S' }, sort: { name: 'since', type: 'S' } },
      projection: { type: 'KEYS_ONLY' },
    },
  ],
}

const BINARY: NewTable = {
  name: 'binary',
  keys: { partition: { name: 'id', type: 'B' } },
  indexes: [],
  encrypted: true,
}

const NUMBERS: NewTable = {
  name: 'numbers',
  keys: { partition: { name: 'n', type: 'N' } },
  indexes: [],
}

/** Every tenth has a partition key that is stored as its digest. */
const event = (n: number): Item => ({
  pk: n % 10 === 0 ? `long-${n}-`.padEnd(400, 'x') : `event-${n}`,
  sk: n,
  owner: `owner-${n % 40}`,
  since: `2026-\u0000${n}`,
  expires,
})

/** A directory of format 4 with items of every kind of key; most of its keys change. */
async function formerDirectory(): Promise<string> {
  const directory = join(temporaryDirectory(), 'data')
  const storage = openStorage({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
  const created = await storage.createTable(EVENTS)
  const events = await storage.replaceTable({ ...created, ttl: { attribute: 'expires' } })
  const binary = await storage.createTable(BINARY)
  const numbers = await storage.createTable(NUMBERS)
  await storage.write((tx) => {
    for (let n = 0; n < ITEMS; n++) tx.put(events, event(n), undefined)
    for (let n = 0; n < 300; n++) {
      tx.put(binary, { id: Buffer.from(`binary-${n}`), secret: `secret ${n}` }, undefined)
      tx.put(numbers, { n: n * 1_234_567.891 }, undefined)
    }
  })
  await storage.backups.create('before', numbers)
  await storage.settled()
  await storage.close()
  expect(await restoreFormerKeys(directory)).toBeGreaterThan(4 * ITEMS)
  return directory
}

async function openIn(directory: string): Promise<Engine> {
  const engine = await openEngine({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
  onTestFinished(() => engine.close())
  return engine
}

/** Everything is stored under its own key: the check compares each item, entry and count. */
async function expectConverted(directory: string): Promise<Engine> {
  expect(readFormat(directory)).toMatchObject({ format: FORMAT_VERSION })
  const engine = await openIn(directory)
  expect((await checkStorage(engine.storage)).problems).toEqual([])
  for (const n of [0, 1, 999, ITEMS - 1]) {
    const { pk, sk } = event(n)
    const { Item: found } = await engine.getItem({ TableName: 'events', Key: { pk, sk } as Item })
    expect(found).toEqual(event(n))
  }
  const byOwner = await engine.query({
    TableName: 'events',
    IndexName: 'by-owner',
    KeyConditionExpression: '#owner = :owner',
    ExpressionAttributeNames: { '#owner': 'owner' },
    ExpressionAttributeValues: { ':owner': 'owner-7' },
  })
  expect(byOwner.Count).toBe(Math.ceil((ITEMS - 7) / 40))
  const Key = { id: new Uint8Array(Buffer.from('binary-12')) }
  const { Item: secret } = await engine.getItem({ TableName: 'binary', Key })
  expect(secret?.['secret']).toBe('secret 12')
  return engine
}

describe('a directory of format 4', () => {
  test('is not valid with the keys of this version until it is converted', async () => {
    const directory = await formerDirectory()
    writeFormat(directory)
    const engine = await openIn(directory)
    const { problems } = await checkStorage(engine.storage)
    expect(problems.length).toBeGreaterThan(50)
  })

  test('is converted with every item, entry, encrypted item and backup, and reports its progress', async () => {
    const directory = await formerDirectory()
    const done: number[] = []
    let total: number | undefined
    await convertDirectory(directory, {
      onProgress(report) {
        if (report.kind !== 'converting') return
        done.push(report.done)
        total = report.total
      },
    })
    expect(done.length).toBeGreaterThan(5)
    expect(done).toEqual(done.toSorted((a, b) => a - b))
    expect(done.at(-1)).toBe(total)
    const { storage } = await expectConverted(directory)
    const [backup] = storage.backups.all()
    const fail = () => new Error('The backup cannot be restored')
    await storage.backups.restore(backup!, { ...NUMBERS, name: 'restored' }, fail)
    await storage.settled()
    expect(storage.count(storage.table('restored')!)).toBe(300)
    expect((await checkStorage(storage)).problems).toEqual([])
  })

  test.each([1, 2, 3, 5, 8])(
    'is converted completely after its conversion was killed at report %i',
    async (reports) => {
      const directory = await formerDirectory()
      const script = await bundle('converter')
      const killed = start([process.execPath, script, directory, String(reports), 'current'])
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL' })
      expect(killed.lines).toHaveLength(reports)
      await expectConverted(directory)
    },
  )

  test('finishes the backup and the index that were being made when it was closed', async () => {
    const directory = join(temporaryDirectory(), 'data')
    const storage = openStorage({ directory, clock: fixedClock(), sweepIntervalMs: 0 })
    const [byOwner, ...indexes] = EVENTS.indexes
    const events = await storage.createTable({ ...EVENTS, indexes })
    await storage.write((tx) => {
      for (let n = 0; n < ITEMS; n++) tx.put(events, event(n), undefined)
    })
    await storage.backups.create('before', events)
    const logged = storage.table('events')!
    await storage.replaceTable({ ...logged, indexes: [...logged.indexes, byOwner!] })
    const jobs = () => Array.from(storage.environment.meta.getRange(ALL_JOBS))
    while (!jobs().some(({ value }) => 'after' in (value as object))) {
      await new Promise((resolve) => setImmediate(resolve))
      storage.refresh()
    }
    await storage.close()
    await restoreFormerKeys(directory)
    const engine = await openIn(directory)
    await engine.settled()
    expect((await checkStorage(engine.storage)).problems).toEqual([])
    expect(engine.storage.backups.all()).toMatchObject([{ status: 'AVAILABLE', items: ITEMS }])
    const table = engine.storage.table('events')!
    expect(table.indexes.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE'])
    expect(engine.storage.count(table, table.indexes[1])).toBe(ITEMS)
  })
})
