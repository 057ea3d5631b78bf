/** A key storage on a test store, with its table made. */
import { createTables } from '@strongroom/kit/tables'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll } from 'vitest'
import { createKeyStorage, type KeyStorage } from '../../src/store/storage.ts'
import { branchKeysTable } from '../../src/tables.ts'
import { LOGICAL, TABLE } from './branch-keys.ts'

type Opened = Awaited<ReturnType<TestStore['open']>>

export function openKeyStorage(store: TestStore) {
  const opened = {} as Opened & { storage: KeyStorage }
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    await createTables(opened.db, [branchKeysTable])
    opened.storage = createKeyStorage({
      db: opened.db,
      tableName: TABLE,
      logicalKeyStoreName: LOGICAL,
    })
  })
  afterAll(() => opened.close())
  return opened
}
