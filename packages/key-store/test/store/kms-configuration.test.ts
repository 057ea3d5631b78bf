import { serviceStores } from '@strongroom/kit/testing/stores'
import { describe, expect, test } from 'vitest'
import type { KmsConfiguration } from '../../src/store/kms-configuration.ts'
import { openTestKeyStore } from '../support/open-key-store.ts'

const encryptionContext = { tenant: 'one' }

describe.each(serviceStores())('the KMS configuration of a key store on $name', (store) => {
  const opened = openTestKeyStore(store)

  /** A branch key under one of the keys of us-west-2. */
  async function keyUnder(arn: string): Promise<{ branchKeyIdentifier: string; version: string }> {
    const { keyStore } = opened.open({ kmsConfiguration: { kind: 'kmsKeyArn', arn } })
    const { branchKeyIdentifier } = await keyStore.createKey({ encryptionContext })
    const { branchKeyVersion } = await keyStore.getActiveBranchKey({ branchKeyIdentifier })
    return { branchKeyIdentifier, version: branchKeyVersion }
  }

  /** All reads of a branch key by a key store of this configuration. */
  async function readAll(
    { branchKeyIdentifier, version }: Awaited<ReturnType<typeof keyUnder>>,
    kmsConfiguration: KmsConfiguration,
    kms = opened.kms,
  ) {
    const { keyStore, calls } = opened.open({ kmsConfiguration, kms })
    const outcomes = await Promise.allSettled([
      keyStore.getActiveBranchKey({ branchKeyIdentifier }),
      keyStore.getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion: version }),
      keyStore.getBeaconKey({ branchKeyIdentifier }),
    ])
    return {
      outcomes: outcomes.map((each) =>
        each.status === 'fulfilled' ? 'read' : (each.reason as Error).name,
      ),
      keyIds: calls.map(([, input]) => (input as { KeyId: string }).KeyId),
    }
  }

  const times3 = <T>(value: T) => [value, value, value]

  describe('kmsKeyArn', () => {
    // KS-51, KS-108, KS-110
    test('reads what was made under this very key', async () => {
      const key = await keyUnder(opened.arn)
      const read = await readAll(key, { kind: 'kmsKeyArn', arn: opened.arn })
      expect(read).toEqual({ outcomes: times3('read'), keyIds: times3(opened.arn) })
    })

    // KS-51, KS-82, KS-108
    test('refuses what was made under another key, before KMS is called', async () => {
      const { arn, otherArn, mrkArn, mrkArnElsewhere } = opened
      for (const [made, configured] of [
        [otherArn, arn],
        [mrkArn, mrkArnElsewhere],
      ] as const) {
        const key = await keyUnder(made)
        const kmsConfiguration = { kind: 'kmsKeyArn', arn: configured } as const
        const read = await readAll(key, kmsConfiguration)
        expect(read).toEqual({ outcomes: times3('KmsKeyMismatch'), keyIds: [] })
        const { keyStore, calls } = opened.open({ kmsConfiguration, kms: opened.elsewhere })
        await expect(keyStore.versionKey(key)).rejects.toMatchObject({ name: 'KmsKeyMismatch' })
        expect(calls).toEqual([])
        expect(await opened.items(key.branchKeyIdentifier)).toHaveLength(3)
      }
    })

    // KS-49
    test('may name a multi-Region key', async () => {
      const key = await keyUnder(opened.mrkArn)
      const read = await readAll(key, { kind: 'kmsKeyArn', arn: opened.mrkArn })
      expect(read).toEqual({ outcomes: times3('read'), keyIds: times3(opened.mrkArn) })
    })
  })

  describe('kmsMRKeyArn', () => {
    // KS-52, KS-108, KS-110
    test('reads what was made under this key or a replica of it, by the configured one', async () => {
      const key = await keyUnder(opened.mrkArn)
      const here = await readAll(key, { kind: 'kmsMRKeyArn', arn: opened.mrkArn })
      expect(here).toEqual({ outcomes: times3('read'), keyIds: times3(opened.mrkArn) })
      const arn = opened.mrkArnElsewhere
      const there = await readAll(key, { kind: 'kmsMRKeyArn', arn }, opened.elsewhere)
      expect(there).toEqual({ outcomes: times3('read'), keyIds: times3(arn) })
    })

    // KS-83, KS-84, KS-85
    test('rotates by the configured replica, and the stored kms-arn stays the old one', async () => {
      const key = await keyUnder(opened.mrkArn)
      const { branchKeyIdentifier } = key
      const arn = opened.mrkArnElsewhere
      const { keyStore, calls } = opened.open({
        kmsConfiguration: { kind: 'kmsMRKeyArn', arn },
        kms: opened.elsewhere,
      })
      const { branchKeyVersion } = await keyStore.versionKey({ branchKeyIdentifier })
      const reEncrypted = { SourceKeyId: arn, DestinationKeyId: arn }
      expect(calls).toMatchObject([
        ['reEncrypt', reEncrypted],
        ['generateDataKeyWithoutPlaintext', { KeyId: arn }],
        ['reEncrypt', reEncrypted],
      ])
      for (const type of ['branch:ACTIVE', `branch:version:${branchKeyVersion}`]) {
        const item = await opened.item(branchKeyIdentifier, type)
        expect(item['kms-arn']).toBe(opened.mrkArn)
      }
      const again = { ...key, version: branchKeyVersion }
      const { outcomes } = await readAll(again, { kind: 'kmsKeyArn', arn: opened.mrkArn })
      expect(outcomes).toEqual(times3('read'))
    })

    // KS-67
    test('makes keys under the configured replica', async () => {
      const arn = opened.mrkArnElsewhere
      const kmsConfiguration = { kind: 'kmsMRKeyArn', arn } as const
      const { keyStore } = opened.open({ kmsConfiguration, kms: opened.elsewhere })
      const { branchKeyIdentifier } = await keyStore.createKey()
      const item = await opened.item(branchKeyIdentifier, 'branch:ACTIVE')
      expect(item['kms-arn']).toBe(arn)
    })

    // KS-52, KS-82, KS-108
    test('refuses any other key, before KMS is called', async () => {
      const { arn, otherArn, mrkArn } = opened
      const inOtherRegion = arn.replace('us-west-2', 'eu-west-1')
      const inOtherAccount = mrkArn.replace('111122223333', '444455556666')
      const inOtherPartition = mrkArn.replace('arn:aws:', 'arn:aws-cn:')
      for (const [made, configured] of [
        [otherArn, arn],
        [arn, inOtherRegion],
        [mrkArn, inOtherAccount],
        [mrkArn, inOtherPartition],
        [mrkArn, `${mrkArn}0`],
        [arn, mrkArn],
      ] as const) {
        const key = await keyUnder(made)
        const kmsConfiguration = { kind: 'kmsMRKeyArn', arn: configured } as const
        const read = await readAll(key, kmsConfiguration)
        expect(read).toEqual({ outcomes: times3('KmsKeyMismatch'), keyIds: [] })
        const { keyStore, calls } = opened.open({ kmsConfiguration })
        await expect(keyStore.versionKey(key)).rejects.toMatchObject({ name: 'KmsKeyMismatch' })
        expect(calls).toEqual([])
      }
    })

    // KS-49
    test('may name a single-region key', async () => {
      const key = await keyUnder(opened.arn)
      const read = await readAll(key, { kind: 'kmsMRKeyArn', arn: opened.arn })
      expect(read).toEqual({ outcomes: times3('read'), keyIds: times3(opened.arn) })
    })
  })

  describe('discovery', () => {
    // KS-53, KS-110
    test('reads by whichever key the item names', async () => {
      for (const arn of [opened.arn, opened.otherArn, opened.mrkArn]) {
        const read = await readAll(await keyUnder(arn), { kind: 'discovery' })
        expect(read).toEqual({ outcomes: times3('read'), keyIds: times3(arn) })
      }
    })
  })

  describe('mrDiscovery', () => {
    // KS-53, KS-110
    test('reads by the replica in its region, and by any single-region key as it is named', async () => {
      const { arn, mrkArn, mrkArnElsewhere } = opened
      const there = { kind: 'mrDiscovery', region: 'eu-west-1' } as const
      const replicated = await readAll(await keyUnder(mrkArn), there, opened.elsewhere)
      expect(replicated).toEqual({ outcomes: times3('read'), keyIds: times3(mrkArnElsewhere) })
      const single = await keyUnder(arn)
      expect(await readAll(single, there, opened.elsewhere)).toEqual({
        outcomes: times3('KmsKeyUnusable'),
        keyIds: times3(arn),
      })
      expect(await readAll(single, { kind: 'mrDiscovery', region: 'us-west-2' })).toEqual({
        outcomes: times3('read'),
        keyIds: times3(arn),
      })
    })
  })

  describe.each<KmsConfiguration>([
    { kind: 'discovery' },
    { kind: 'mrDiscovery', region: 'us-west-2' },
  ])('$kind', (kmsConfiguration) => {
    // KS-65, KS-80
    test('makes and rotates nothing, and asks neither the store nor KMS', async () => {
      const storage = {
        ...opened.storage,
        getEncryptedActiveBranchKey: () => Promise.reject(new Error('The store was asked')),
      }
      const { keyStore, calls } = opened.open({ kmsConfiguration, storage })
      const branchKeyIdentifier = 'tenant'
      const before = await opened.countItems()
      for (const refused of [
        () => keyStore.createKey({ branchKeyIdentifier, encryptionContext }),
        () => keyStore.createKey({ branchKeyIdentifier: '' }),
        () => keyStore.versionKey({ branchKeyIdentifier }),
      ]) {
        await expect(refused()).rejects.toMatchObject({ name: 'DiscoveryCannotWrite' })
      }
      expect(calls).toEqual([])
      expect(await opened.countItems()).toBe(before)
    })

    // KS-109
    test.each([
      ['an alias', 'arn:aws:kms:us-west-2:111122223333:alias/branch-keys'],
      ['a bare key id', '1234abcd-12ab-34cd-56ef-1234567890ab'],
      ['another service', 'arn:aws:s3:us-west-2:111122223333:key/1234abcd'],
      ['no region', 'arn:aws:kms::111122223333:key/1234abcd'],
    ])('refuses a kms-arn that is %s, before KMS is called', async (_what, arn) => {
      const key = await keyUnder(opened.arn)
      const { branchKeyIdentifier, version } = key
      for (const type of ['branch:ACTIVE', `branch:version:${version}`, 'beacon:ACTIVE'])
        await opened.tamper(branchKeyIdentifier, type, { 'kms-arn': arn })
      const read = await readAll(key, kmsConfiguration)
      expect(read).toEqual({ outcomes: times3('CorruptKmsArn'), keyIds: [] })
    })

    test('refuses an item that names another key than it was made under', async () => {
      const key = await keyUnder(opened.arn)
      const { branchKeyIdentifier, version } = key
      for (const type of ['branch:ACTIVE', `branch:version:${version}`, 'beacon:ACTIVE'])
        await opened.tamper(branchKeyIdentifier, type, { 'kms-arn': opened.otherArn })
      const { outcomes } = await readAll(key, kmsConfiguration)
      expect(outcomes).toEqual(times3('BranchKeyCiphertextInvalid'))
    })
  })
})
