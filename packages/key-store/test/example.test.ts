/** The lines between the marks are shown in the documentation. */
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { openKeyStore } from '../src/store/key-store.ts'
import { createKeyStorage } from '../src/store/storage.ts'
import { TABLE as tableName } from './support/branch-keys.ts'
import { openTestKeyStore } from './support/open-key-store.ts'

describe.each(testStores().slice(0, 1))('the example of the documentation on $name', (store) => {
  const opened = openTestKeyStore(store)

  test('makes a branch key, reads it and rotates it', async () => {
    const { db, kms, arn } = opened
    // example: branch-key
    const storage = createKeyStorage({ db, tableName, logicalKeyStoreName: 'orders' })
    const keyStore = openKeyStore({ storage, kms, kmsConfiguration: { kind: 'kmsKeyArn', arn } })
    const key = await keyStore.createKey({ encryptionContext: { tenant: 'acme' } })
    const { branchKey } = await keyStore.getActiveBranchKey(key) // 32 bytes
    await keyStore.versionKey(key) // a new version; old ones stay readable
    // end
    expect(branchKey).toHaveLength(32)
    const after = await keyStore.getActiveBranchKey(key)
    expect(after.branchKey).not.toEqual(branchKey)
    expect(after.encryptionContext).toEqual({ tenant: 'acme' })
  })
})
