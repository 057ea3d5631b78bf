import { setImmediate } from 'node:timers/promises'
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { type Hostility, hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores, type TestStore, testStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll, describe } from 'vitest'
import { formBridgeTable } from '../../src/tables.ts'
import { createTestStores, type TestStores } from './test-stores.ts'

/** Tests on each store with an empty table; every call of `newStores` has its own clock. */
export function onEveryStore(title: string, define: (newStores: () => TestStores) => void) {
  eachStore(testStores(), title, (db) => define(() => createTestStores(db())))
}

/** On the default store, and with SLOW=1 on every store. */
export function onServiceStores(title: string, define: (newStores: () => TestStores) => void) {
  eachStore(serviceStores(), title, (db) => define(() => createTestStores(db())))
}

/** Also on a store that fails like AWS does at times, with the retries of a deployment. */
export function onServiceStoresAndHostile(
  title: string,
  hostility: Omit<Hostility, 'seed'>,
  define: (newStores: () => TestStores) => void,
) {
  eachStore(serviceStores(), title, (db) => {
    define(() => createTestStores(withRetries(db())))
    describe('that is hostile', () => {
      let seed = 0
      define(() => {
        const hostile = hostileDb(db(), { ...hostility, seed: ++seed })
        return createTestStores(withRetries(hostile), testClock(), withRetries(db()))
      })
    })
  })
}

/** Retries without waiting until it succeeds. */
function withRetries(db: Db): Db {
  return retryingDb(db, { attempts: 500, pause: () => setImmediate() })
}

function eachStore(stores: readonly TestStore[], title: string, define: (db: () => Db) => void) {
  describe.each(stores)(`${title} on $name`, (store) => {
    let opened: Awaited<ReturnType<typeof store.open>>
    beforeAll(async () => {
      opened = await store.open()
      await createTables(opened.db, [formBridgeTable])
    })
    afterAll(() => opened.close())
    define(() => opened.db)
  })
}
