import { randomUUID } from 'node:crypto'
import type { BranchKeyStoreNode } from '@aws-crypto/branch-keystore-node'
import {
  AlgorithmSuiteIdentifier,
  buildClient,
  CommitmentPolicy,
  KmsHierarchicalKeyRingNode,
} from '@aws-crypto/client-node'
import { describe, expect, test } from 'vitest'
import { unwrapDataKey } from '../../src/envelope/edk.ts'
import { awsBranchKeyCache } from '../../src/aws/keyring-cache.ts'
import { awsBranchKeyStore } from '../../src/aws/keyring.ts'
import { interopCorners, openInterop } from './open-interop.ts'

const { encrypt, decrypt } = buildClient(CommitmentPolicy.REQUIRE_ENCRYPT_REQUIRE_DECRYPT)
const plaintext = Buffer.from('attack at dawn')
/** Not signed: a signature would add its key to the context that wrapping authenticates. */
const suiteId = AlgorithmSuiteIdentifier.ALG_AES256_GCM_IV12_TAG16_HKDF_SHA512_COMMIT_KEY

function keyringOn(
  keyStore: BranchKeyStoreNode,
  branchKeyId: string,
  cache: { cache?: ReturnType<typeof awsBranchKeyCache> } = { cache: awsBranchKeyCache() },
) {
  return new KmsHierarchicalKeyRingNode({
    branchKeyId,
    keyStore,
    ...cache,
    cacheLimitTtl: 600,
    utf8Sorting: true,
  })
}

describe.each(interopCorners())('the hierarchical keyring of AWS on $name', (where) => {
  const opened = openInterop(where)

  test('decrypts on our store what it encrypted on theirs, and the other way round', async () => {
    const { ours, theirs } = opened
    const encryptionContext = { Ａ: 'fullwidth', '🔑': 'emoji', ключ: 'значение' }
    for (const maker of [ours, theirs]) {
      const { branchKeyIdentifier: id } = await maker.createKey()
      const stores = [awsBranchKeyStore(ours), theirs]
      for (const [sender, receiver] of [stores, stores.toReversed()]) {
        const from = keyringOn(sender as BranchKeyStoreNode, id)
        const to = keyringOn(receiver as BranchKeyStoreNode, id)
        const { result } = await encrypt(from, plaintext, { encryptionContext })
        const decrypted = await decrypt(to, result)
        expect(decrypted.plaintext).toEqual(plaintext)
        expect(decrypted.messageHeader.encryptionContext).toMatchObject(encryptionContext)
      }
    }
  })

  test('decrypts what was encrypted before rotations by either side', async () => {
    const { ours, theirs } = opened
    const keyStore = awsBranchKeyStore(ours)
    const { branchKeyIdentifier } = await keyStore.createKey()
    const messages = []
    for (const rotator of [ours, theirs, keyStore]) {
      const { result } = await encrypt(keyringOn(keyStore, branchKeyIdentifier), plaintext)
      messages.push(result)
      await rotator.versionKey({ branchKeyIdentifier })
    }
    for (const store of [keyStore, theirs]) {
      const keyring = keyringOn(store, branchKeyIdentifier)
      for (const message of messages) {
        expect((await decrypt(keyring, message)).plaintext).toEqual(plaintext)
      }
    }
  })

  test('of fifty messages encrypted concurrently with an empty cache all open, none under zeros', async () => {
    const { ours, theirs } = opened
    const { branchKeyIdentifier } = await ours.createKey()
    const place = { branchKeyIdentifier, context: Buffer.alloc(0) }
    const { branchKey } = await ours.getActiveBranchKey({ branchKeyIdentifier })
    for (const store of [awsBranchKeyStore(ours), theirs]) {
      const keyring = keyringOn(store, branchKeyIdentifier)
      const encrypted = await Promise.all(
        Array.from({ length: 50 }, () => encrypt(keyring, plaintext, { suiteId })),
      )
      const decrypted = await Promise.all(encrypted.map(({ result }) => decrypt(keyring, result)))
      for (const each of decrypted) expect(each.plaintext).toEqual(plaintext)
      for (const { messageHeader } of encrypted) {
        const wrapped = Buffer.from(messageHeader.encryptedDataKeys[0]?.encryptedDataKey ?? [])
        expect(() => unwrapDataKey(wrapped, new Uint8Array(32), place)).toThrow(
          'cannot be decrypted',
        )
        expect(unwrapDataKey(wrapped, branchKey, place)).toHaveLength(32)
      }
    }
  })

  test("of twenty messages encrypted concurrently with AWS's own cache all open, none under zeros", async () => {
    const { ours, cached } = opened
    const { branchKeyIdentifier } = await ours.createKey()
    const place = { branchKeyIdentifier, context: Buffer.alloc(0) }
    const { branchKey } = await ours.getActiveBranchKey({ branchKeyIdentifier })
    for (const store of [awsBranchKeyStore(ours), awsBranchKeyStore(ours, cached())]) {
      const keyring = keyringOn(store, branchKeyIdentifier, {})
      const encrypted = await Promise.all(
        Array.from({ length: 20 }, () => encrypt(keyring, plaintext, { suiteId })),
      )
      for (const { messageHeader } of encrypted) {
        const wrapped = Buffer.from(messageHeader.encryptedDataKeys[0]?.encryptedDataKey ?? [])
        expect(unwrapDataKey(wrapped, branchKey, place)).toHaveLength(32)
      }
      const reader = keyringOn(awsBranchKeyStore(ours), branchKeyIdentifier, {})
      const decrypted = await Promise.all(encrypted.map(({ result }) => decrypt(reader, result)))
      for (const each of decrypted) expect(each.plaintext).toEqual(plaintext)
    }
  })

  test('calls KMS once for fifty concurrent messages if its key store has a cache', async () => {
    const { ours, cached, kmsCalls } = opened
    const { branchKeyIdentifier } = await ours.createKey()
    const keyring = keyringOn(awsBranchKeyStore(ours, cached()), branchKeyIdentifier)
    kmsCalls.length = 0
    await Promise.all(Array.from({ length: 50 }, () => encrypt(keyring, plaintext, { suiteId })))
    expect(kmsCalls).toEqual(['Decrypt'])
  })

  test('leaves no copy of a key but its own', async () => {
    const { ours } = opened
    const { branchKeyIdentifier } = await ours.createKey()
    const given: Uint8Array[] = []
    const keyStore = awsBranchKeyStore(ours, {
      ...ours,
      async getActiveBranchKey(input) {
        const materials = await ours.getActiveBranchKey(input)
        given.push(materials.branchKey)
        return materials
      },
    })
    const { branchKey } = await ours.getActiveBranchKey({ branchKeyIdentifier })
    const material = await keyStore.getActiveBranchKey(branchKeyIdentifier)
    expect(Uint8Array.from(material.branchKey())).toEqual(branchKey)
    expect(given).toEqual([new Uint8Array(32)])
  })

  test('reports its key store', () => {
    const { ours, theirs } = opened
    const { keystoreId: _ours, ...info } = awsBranchKeyStore(ours).getKeyStoreInfo()
    const { keystoreId: _theirs, ...expected } = theirs.getKeyStoreInfo()
    expect(info).toEqual(expected)
  })

  test('finds no key that is not there', async () => {
    const keyring = keyringOn(awsBranchKeyStore(opened.ours), randomUUID())
    await expect(encrypt(keyring, plaintext)).rejects.toMatchObject({ name: 'BranchKeyNotFound' })
  })
})
