/** The stores of Two-key on a test store, with their tables and a test clock. */
import { createTables } from '@strongroom/kit/tables'
import type { Db, Item } from '@strongroom/kit/db'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll } from 'vitest'
import { createStores, type TwoKeyStores } from '../../src/stores.ts'
import { cacheTable, dedupeTable, tokensTable } from '../../src/tables.ts'

type Opened = Awaited<ReturnType<TestStore['open']>>

export function openTwoKeyStore(store: TestStore) {
  const clock = testClock()
  const opened = {} as Opened & TwoKeyStores & { otherApp: TwoKeyStores }
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    const { db } = opened
    await createTables(db, [cacheTable, tokensTable, dedupeTable])
    const otherApp = createStores({ db, clock, app: 'deploy-bot' })
    Object.assign(opened, createStores({ db, clock }), { otherApp })
  })
  afterAll(() => opened.close())
  return { clock, opened, now: () => Math.floor(clock.now() / 1000) }
}

export async function rawItem(db: Db, TableName: string, Key: Item): Promise<Item | undefined> {
  return (await db.getItem({ TableName, Key, ConsistentRead: true })).Item
}

let made = 0

/** Unique ids. */
export function newIds() {
  const number = String(++made).padStart(8, '0')
  return { team: `T${number}`, user: `U${number}`, channel: `C${number}` }
}

export const newEvent = () => `Ev${String(++made).padStart(8, '0')}`
