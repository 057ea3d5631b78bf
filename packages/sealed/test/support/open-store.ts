/** A secret store on a test store, with its table and a test clock. */
import { createTables } from '@strongroom/kit/tables'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll } from 'vitest'
import { createSecretStore, type SecretStore } from '../../src/secrets/store.ts'
import { secretsTable } from '../../src/tables.ts'

type Opened = Awaited<ReturnType<TestStore['open']>>

export function openSecretStore(store: TestStore) {
  const clock = testClock()
  const opened = {} as Opened & { secrets: SecretStore }
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    await createTables(opened.db, [secretsTable])
    opened.secrets = createSecretStore({ db: opened.db, clock })
  })
  afterAll(() => opened.close())
  return { clock, opened, now: () => Math.floor(clock.now() / 1000) }
}
