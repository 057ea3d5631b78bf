/**
 * The stores of `testStores`, and once more on a bad day, with SLOW=1 each of them: throttling and
 * conflicting now and then, with the retries that the server puts around a store.
 *
 * Answers that get lost are left out: whether to repeat such a call is the caller's knowledge, so
 * tests of that say so themselves.
 */
import { retryingDb } from '../retrying-db.ts'
import { hostileDb } from './hostile-db.ts'
import { type TestStore, testStores } from './stores.ts'

export function everyStore(): TestStore[] {
  const stores = testStores()
  // A bad day is of the wrapper's making: on one store it shows nearly all, in a fraction of the time.
  const bad = process.env['SLOW'] ? stores : stores.slice(0, 1)
  return [...stores, ...bad.map(onABadDay)]
}

function onABadDay(store: TestStore): TestStore {
  return {
    name: `${store.name} on a bad day`,
    async open() {
      const { db, close } = await store.open()
      const hostile = hostileDb(db, { seed: 2100, throttle: 0.15, conflict: 0.15 })
      return { db: retryingDb(hostile, { attempts: 40, pause: async () => {} }), close }
    },
  }
}
