import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Db, Item } from '@strongroom/kit/db'
import { silentLog } from '@strongroom/kit/log'
import { serverTable } from '@strongroom/kit/server-table'
import { createTables } from '@strongroom/kit/tables'
import { everyStore } from '@strongroom/kit/testing/stores'
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { runWorkers } from '../src/run-worker.ts'
import { serve } from '../src/serve.ts'
import { type Settings, settings } from '../src/settings.ts'
import { openStore } from '../src/store.ts'
import { recordVersion, STORE_VERSION } from '../src/store-version/store-version.ts'
import { tablesOf } from '../src/tables.ts'
import { version } from '../src/version.ts'
import { notesService } from './notes-service.ts'

const Key = { PK: 'STORE', SK: 'VERSION' }
const own = { ...Key, version: STORE_VERSION, writtenBy: version }
const newer = { ...Key, version: STORE_VERSION + 1, writtenBy: '9.8.7' }
const refusal = `Strongroom 9.8.7 uses this store with store version ${STORE_VERSION + 1}, and this version (${version}) knows store versions up to ${STORE_VERSION}: start that version or a newer one, or restore the tables to a time before it was started`

const itemIn = async (db: Db) =>
  (await db.getItem({ TableName: serverTable.name, Key, ConsistentRead: true })).Item
const put = (db: Db, item: Item) => db.putItem({ TableName: serverTable.name, Item: item })

describe.each(everyStore())('the version of a store on $name', (store) => {
  async function open(): Promise<Db> {
    const { db, close } = await store.open()
    onTestFinished(close)
    await createTables(db, [serverTable])
    return db
  }

  test('is written by the first of several servers and replaces an older one', async () => {
    const db = await open()
    await Promise.all(Array.from({ length: 5 }, () => recordVersion(db)))
    expect(await itemIn(db)).toEqual(own)
    await put(db, { ...Key, version: STORE_VERSION - 1, writtenBy: '0.0.1' })
    await Promise.all(Array.from({ length: 5 }, () => recordVersion(db)))
    expect(await itemIn(db)).toEqual(own)
  })

  test('is never lowered, also if a newer server starts at the same time', async () => {
    const db = await open()
    const raced: Db = {
      ...db,
      async putItem(input) {
        await put(db, newer)
        return db.putItem(input)
      },
    }
    await expect(recordVersion(raced)).rejects.toThrow(refusal)
    expect(await itemIn(db)).toEqual(newer)
  })
})

const local = inject('dynamodbLocal')

describe.each([
  { store: 'the embedded engine', endpoint: undefined },
  ...(local === null ? [] : [{ store: 'DynamoDB Local', endpoint: local }]),
])('servers on $store', ({ endpoint }) => {
  const services = [notesService]

  async function newStore(): Promise<Settings> {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    onTestFinished(() => rm(directory, { recursive: true }))
    const configured = settings.parse({
      PORT: '0',
      STRONGROOM_DATA: directory,
      ...(endpoint !== undefined && {
        DYNAMODB_ENDPOINT: endpoint,
        STRONGROOM_TABLE_PREFIX: `version-${process.hrtime.bigint()}-`,
      }),
    })
    await onStore(configured, (db) => createTables(db, tablesOf(services)))
    return configured
  }

  async function onStore<T>(configured: Settings, work: (db: Db) => Promise<T>): Promise<T> {
    const store = await openStore(configured)
    try {
      return await work(store.db)
    } finally {
      await store.close()
    }
  }

  async function serving(configured: Settings) {
    const server = await serve({ settings: configured, services, log: silentLog })
    onTestFinished(() => server.close())
    return server
  }

  test('of the same version run side by side, and each has what the other stored', async () => {
    const configured = await newStore()
    const [first, second] = [await serving(configured), await serving(configured)]
    const claimed = await fetch(`${second.url}/server/v1/bootstrap`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ code: second.bootstrap?.code }),
    })
    const { token } = (await claimed.json()) as { token: string }
    for (const { url } of [first, second]) {
      const headers = { authorization: `Bearer ${token}` }
      const listed = await fetch(`${url}/server/v1/operators`, { headers })
      expect(await listed.json()).toMatchObject({ items: [{ name: 'admin' }] })
    }
    expect(await onStore(configured, itemIn)).toEqual(own)
  })

  test('and workers refuse a store that a newer version uses, and change nothing in it', async () => {
    const configured = await newStore()
    const items = (db: Db) => db.scan({ TableName: serverTable.name })
    await onStore(configured, (db) => put(db, newer))
    const options = { settings: configured, services, log: silentLog }
    await expect(serve(options)).rejects.toThrow(refusal)
    await expect(runWorkers(options)).rejects.toThrow(refusal)
    expect((await onStore(configured, items)).Items).toEqual([newer])
  })
})
