/** A Two-key store on a test store, with its tables made and a clock to move. */
import { createTables } from '@strongroom/kit/create-tables'
import type { Db, Item } from '@strongroom/kit/db'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll } from 'vitest'
import { createTwoKeyStore, type TwoKeyStore } from '../src/store.ts'
import { cacheTable, dedupeTable, tokensTable } from '../src/table.ts'

type Opened = Awaited<ReturnType<TestStore['open']>>

export function openTwoKeyStore(store: TestStore) {
  const clock = testClock()
  const opened = {} as Opened & TwoKeyStore & { otherApp: TwoKeyStore }
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    const { db } = opened
    await createTables(db, [cacheTable, tokensTable, dedupeTable])
    const otherApp = createTwoKeyStore({ db, clock, app: 'deploy-bot' })
    Object.assign(opened, createTwoKeyStore({ db, clock }), { otherApp })
  })
  afterAll(() => opened.close())
  return { clock, opened, now: () => Math.floor(clock.now() / 1000) }
}

export async function rawItem(db: Db, TableName: string, Key: Item): Promise<Item | undefined> {
  return (await db.getItem({ TableName, Key, ConsistentRead: true })).Item
}

let made = 0

/** Ids that no other test has. */
export function newIds() {
  const number = String(++made).padStart(8, '0')
  return { team: `T${number}`, user: `U${number}`, channel: `C${number}` }
}

export const newEvent = () => `Ev${String(++made).padStart(8, '0')}`
