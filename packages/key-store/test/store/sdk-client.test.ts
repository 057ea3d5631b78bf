import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { openEngine } from '@strongroom/engine/engine'
import { embedded } from '@strongroom/engine/wire/sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createKeyStore } from '../../src/aws/create-key-store.ts'
import { createKeyListing } from '../../src/branch-keys/listing.ts'
import { createKeyStorage } from '../../src/store/storage.ts'
import { LOGICAL, newBranchKey, rotationOf } from '../support/branch-keys.ts'

describe('a key storage on a client of the AWS SDK', () => {
  // KS-1, KS-5, KS-12
  test('makes, rotates, reads and lists branch keys', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'strongroom-test-'))
    const engine = await openEngine({ directory })
    const client = new DynamoDBClient({ ...embedded(engine) })
    onTestFinished(async () => {
      client.destroy()
      await engine.close()
      await rm(directory, { recursive: true })
    })
    const options = { client, tableName: 'branch-keys', logicalKeyStoreName: LOGICAL }
    await createKeyStore(options)
    const storage = createKeyStorage(options)
    const custom = { 'aws-crypto-ec:ключ': '🔑', 'aws-crypto-ec:__proto__': 'own' }
    const key = newBranchKey({ custom })
    await storage.writeNewEncryptedBranchKey(key)
    const rotation = rotationOf(key.active)
    await storage.writeNewEncryptedBranchKeyVersion(rotation)
    const { branchKeyId } = key
    expect(await storage.getEncryptedActiveBranchKey(branchKeyId)).toEqual(rotation.active.item)
    const { version } = key.version.type
    expect(await storage.getEncryptedBranchKeyVersion(branchKeyId, version)).toEqual(key.version)
    expect(await storage.getEncryptedBeaconKey(branchKeyId)).toEqual(key.beacon)
    await expect(
      storage.writeNewEncryptedBranchKeyVersion(rotationOf(key.active)),
    ).rejects.toMatchObject({ name: 'VersionRace' })
    const { keys } = await createKeyListing(options).listBranchKeys()
    expect(keys.map((each) => each.branchKeyId)).toEqual([branchKeyId])
  })
})
