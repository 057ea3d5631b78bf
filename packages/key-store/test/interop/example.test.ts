/** The lines between the marks are shown in the documentation. */
import { buildClient, CommitmentPolicy, KmsHierarchicalKeyRingNode } from '@aws-crypto/client-node'
import { testStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { cachedBranchKeys } from '../../src/cache.ts'
import { awsBranchKeyCache } from '../../src/aws/keyring-cache.ts'
import { awsBranchKeyStore } from '../../src/aws/keyring.ts'
import { openEnvelope } from '../support/open-envelope.ts'

const { encrypt, decrypt } = buildClient(CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT)

describe.each(testStores().slice(0, 1))('the examples of the documentation on $name', (store) => {
  const opened = openEnvelope(store)

  test("use AWS's Encryption SDK on a branch key", async () => {
    const { keyStore } = opened
    // example: encryption-sdk
    const { branchKeyIdentifier } = await keyStore.createKey({
      branchKeyIdentifier: 'orders:acme',
      encryptionContext: { tenant: 'acme' },
    })
    const branchKeys = cachedBranchKeys(keyStore, { ttlSeconds: 300, capacity: 1000 })
    const keyring = new KmsHierarchicalKeyRingNode({
      branchKeyId: branchKeyIdentifier,
      keyStore: awsBranchKeyStore(keyStore, branchKeys),
      cache: awsBranchKeyCache(),
      cacheLimitTtl: 300,
      utf8Sorting: true,
    })
    const { result } = await encrypt(keyring, 'card ending in 4242', {
      encryptionContext: { order: '1001' },
    })
    const { plaintext, messageHeader } = await decrypt(keyring, result)
    // end
    expect(plaintext.toString()).toBe('card ending in 4242')
    expect(messageHeader.encryptionContext).toMatchObject({ order: '1001' })
  })

  test("open with AWS's Encryption SDK what a service has sealed", async () => {
    const { envelope, keyStore } = opened
    // example: envelope
    const place = { service: 'ferryhook', tenant: 'user_1', entity: 'src_1', attribute: 'secret' }
    const sealed = await envelope.seal(new TextEncoder().encode('whsec_1'), place)

    const keyring = new KmsHierarchicalKeyRingNode({
      branchKeyId: 'ferryhook:user_1',
      keyStore: awsBranchKeyStore(keyStore),
      cache: awsBranchKeyCache(),
      cacheLimitTtl: 300,
      utf8Sorting: true,
    })
    const { plaintext, messageHeader } = await decrypt(keyring, sealed)
    // end
    expect(plaintext.toString()).toBe('whsec_1')
    expect({ ...messageHeader.encryptionContext }).toEqual(place)
  })
})
