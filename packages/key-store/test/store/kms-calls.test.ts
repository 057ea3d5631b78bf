import { randomUUID } from 'node:crypto'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import { LOGICAL } from '../support/branch-keys.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

const bytes = expect.any(Uint8Array) as Uint8Array

describe.each(serviceStores())('what a key store on $name asks of KMS', (store) => {
  const opened = openTestKeyStore(store)
  const custom = { department: 'admin', ключ: 'значение 🔑', '': 'nameless' }
  const prefixed = {
    'aws-crypto-ec:department': 'admin',
    'aws-crypto-ec:ключ': 'значение 🔑',
    'aws-crypto-ec:': 'nameless',
  }

  async function newKey() {
    const { keyStore } = opened.open()
    const { branchKeyIdentifier } = await keyStore.createKey({ encryptionContext: custom })
    const { branchKeyVersion } = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    return { branchKeyIdentifier, branchKeyVersion }
  }

  // KS-70, KS-72, KS-74, KS-96, KS-101, KS-102, KS-103, KS-104
  test('for a new key is this, call by call', async () => {
    const id = `tenant-${randomUUID()}`
    const { keyStore, calls } = opened.open({ grantTokens: ['first', 'second'] })
    await keyStore.createKey({ branchKeyIdentifier: id, encryptionContext: custom })
    const [beacon, active, version] = await opened.items(id)
    const decryptOnly = {
      'branch-key-id': id,
      type: version?.type,
      'create-time': '2100-01-01T18:15:17.223000Z',
      tablename: LOGICAL,
      'kms-arn': opened.arn,
      'hierarchy-version': '1',
      ...prefixed,
    }
    const GrantTokens = ['first', 'second']
    expect(calls).toEqual([
      [
        'generateDataKeyWithoutPlaintext',
        {
          KeyId: opened.arn,
          NumberOfBytes: 32,
          EncryptionContext: decryptOnly,
          GrantTokens,
        },
      ],
      [
        'reEncrypt',
        {
          SourceKeyId: opened.arn,
          SourceEncryptionContext: decryptOnly,
          CiphertextBlob: version?.enc,
          DestinationKeyId: opened.arn,
          DestinationEncryptionContext: {
            ...decryptOnly,
            type: 'branch:ACTIVE',
            version: version?.type,
          },
          GrantTokens,
        },
      ],
      [
        'generateDataKeyWithoutPlaintext',
        {
          KeyId: opened.arn,
          NumberOfBytes: 32,
          EncryptionContext: { ...decryptOnly, type: 'beacon:ACTIVE' },
          GrantTokens,
        },
      ],
    ])
    expect([beacon?.enc, active?.enc]).toEqual([bytes, bytes])
  })

  // KS-81, KS-84, KS-85
  test('for a rotation is this, call by call', async () => {
    const { branchKeyIdentifier: id } = await newKey()
    const { enc: oldEnc, ...old } = await opened.item(id, 'branch:ACTIVE')
    const { keyStore, calls } = opened.open({ grantTokens: ['a-token'] })
    const { branchKeyVersion } = await keyStore.versionKey({ branchKeyIdentifier: id })
    const type = `branch:version:${branchKeyVersion}`
    const { enc } = await opened.item(id, type)
    const oldContext = { ...old, 'hierarchy-version': '1', tablename: LOGICAL }
    const { version: _old, ...kept } = oldContext as Record<string, unknown>
    const createTime = new Date(opened.clock.now()).toISOString().replace('Z', '000Z')
    const newContext = { ...kept, type, 'create-time': createTime }
    const GrantTokens = ['a-token']
    const keys = { SourceKeyId: opened.arn, DestinationKeyId: opened.arn }
    expect(calls).toEqual([
      [
        'reEncrypt',
        {
          ...keys,
          SourceEncryptionContext: oldContext,
          CiphertextBlob: oldEnc,
          DestinationEncryptionContext: oldContext,
          GrantTokens,
        },
      ],
      [
        'generateDataKeyWithoutPlaintext',
        { KeyId: opened.arn, NumberOfBytes: 32, EncryptionContext: newContext, GrantTokens },
      ],
      [
        'reEncrypt',
        {
          ...keys,
          SourceEncryptionContext: newContext,
          CiphertextBlob: enc,
          DestinationEncryptionContext: { ...newContext, type: 'branch:ACTIVE', version: type },
          GrantTokens,
        },
      ],
    ])
  })

  // KS-90, KS-91, KS-92, KS-106, KS-107, KS-111
  test('for a read is one call, with every attribute but enc as its context', async () => {
    const { branchKeyIdentifier, branchKeyVersion } = await newKey()
    const { keyStore, calls } = opened.open({ grantTokens: ['a-token'] })
    await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    await keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion })
    await keyStore.getBeaconKey({ branchKeyIdentifier })
    const decryptOf = async (type: string) => {
      const { enc, ...attributes } = await opened.item(branchKeyIdentifier, type)
      const EncryptionContext = { ...attributes, 'hierarchy-version': '1', tablename: LOGICAL }
      const input = { KeyId: opened.arn, CiphertextBlob: enc, EncryptionContext }
      return ['decrypt', { ...input, GrantTokens: ['a-token'] }]
    }
    expect(calls).toEqual([
      await decryptOf('branch:ACTIVE'),
      await decryptOf(`branch:version:${branchKeyVersion}`),
      await decryptOf('beacon:ACTIVE'),
    ])
  })

  test('is without grant tokens if there are none', async () => {
    const { keyStore, calls } = opened.open()
    const { branchKeyIdentifier } = await keyStore.createKey()
    await keyStore.versionKey({ branchKeyIdentifier })
    await keyStore.getBeaconKey({ branchKeyIdentifier })
    expect(calls).toHaveLength(7)
    for (const [, input] of calls) expect(Object.keys(input)).not.toContain('GrantTokens')
  })
})
