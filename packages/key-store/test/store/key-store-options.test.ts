import type { Kms } from '@strongroom/kit/kms'
import { describe, expect, test } from 'vitest'
import { type KeyStoreOptions, openKeyStore } from '../../src/store/key-store.ts'
import type { KmsConfiguration } from '../../src/store/kms-configuration.ts'
import type { KeyStorage } from '../../src/store/storage.ts'
import { KMS_ARN, LOGICAL, TABLE } from '../support/branch-keys.ts'

/** Neither is asked for anything while a key store is opened. */
const kms = {} as Kms
const storage = {
  getKeyStorageInfo: () => ({ name: TABLE, logicalName: LOGICAL }),
} as KeyStorage
const kmsConfiguration: KmsConfiguration = { kind: 'kmsKeyArn', arn: KMS_ARN }
const given: KeyStoreOptions = { storage, kms, kmsConfiguration }

const configured = (configuration: unknown) => () =>
  openKeyStore({ ...given, kmsConfiguration: configuration as KmsConfiguration })

describe('opening a key store', () => {
  // KS-44
  test.each(['storage', 'kms', 'kmsConfiguration'])('needs its %s', (name) => {
    expect(() => openKeyStore({ ...given, [name]: undefined })).toThrow(
      /(?:: pass|\. (?:Pass|Choose|Use)) /,
    )
  })

  // KS-47, KS-50
  test.each<KmsConfiguration>([
    { kind: 'kmsKeyArn', arn: KMS_ARN },
    { kind: 'kmsMRKeyArn', arn: 'arn:aws:kms:us-west-2:111122223333:key/mrk-1234' },
    { kind: 'kmsKeyArn', arn: 'arn:local:kms:local:000000000000:key/1234abcd' },
    { kind: 'kmsKeyArn', arn: 'arn:aws-us-gov:kms:us-gov-west-1:111122223333:key/1234abcd' },
    { kind: 'discovery' },
    { kind: 'mrDiscovery', region: 'eu-west-1' },
  ])('takes the configuration $kind $arn', (configuration) => {
    expect(configured(configuration)().getKeyStoreInfo().kmsConfiguration).toEqual(configuration)
  })

  // KS-47
  test.each([
    ['no text', 42],
    ['empty', ''],
    ['a bare key id', '1234abcd-12ab-34cd-56ef-1234567890ab'],
    ['without a partition', 'arn::kms:us-west-2:111122223333:key/1234abcd'],
    ['of another service', 'arn:aws:s3:us-west-2:111122223333:key/1234abcd'],
    ['without a region', 'arn:aws:kms::111122223333:key/1234abcd'],
    ['without an account', 'arn:aws:kms:us-west-2::key/1234abcd'],
    ['without a key', 'arn:aws:kms:us-west-2:111122223333:key/'],
    ['of something that is no key', 'arn:aws:kms:us-west-2:111122223333:grant/1234abcd'],
    ['too long in parts', 'arn:aws:kms:us-west-2:111122223333:key/1234abcd:more'],
    ['followed by white space', `${KMS_ARN}\n`],
    ['too long', `${KMS_ARN}${'0'.repeat(2048)}`],
  ])('refuses an ARN that is %s', (_what, arn) => {
    for (const kind of ['kmsKeyArn', 'kmsMRKeyArn'])
      expect(configured({ kind, arn })).toThrow(
        expect.objectContaining({ name: 'InvalidKmsConfiguration' }),
      )
  })

  // KS-48
  test('refuses the ARN of an alias by a name of its own', () => {
    const arn = 'arn:aws:kms:us-west-2:111122223333:alias/branch-keys'
    for (const kind of ['kmsKeyArn', 'kmsMRKeyArn'])
      expect(configured({ kind, arn })).toThrow(
        expect.objectContaining({ name: 'KmsAliasNotAllowed' }),
      )
  })

  // KS-50
  test.each([undefined, '', 'eu west', 'arn:aws', 7])('refuses the region %s', (region) => {
    expect(configured({ kind: 'mrDiscovery', region })).toThrow(
      expect.objectContaining({ name: 'InvalidKmsConfiguration' }),
    )
  })

  test.each([{}, { kind: 'kms' }, { arn: KMS_ARN }, null])(
    'refuses the configuration %j',
    (configuration) => {
      expect(configured(configuration)).toThrow(
        expect.objectContaining({ name: 'InvalidKmsConfiguration' }),
      )
    },
  )

  // KS-45
  test.each([
    ['none', []],
    ['ten', Array.from({ length: 10 }, (_, n) => `token-${n}`)],
    ['the longest', ['t'.repeat(8192)]],
  ])('takes grant tokens: %s', (_what, grantTokens) => {
    expect(openKeyStore({ ...given, grantTokens }).getKeyStoreInfo().grantTokens).toEqual(
      grantTokens,
    )
  })

  test.each([
    ['eleven', Array.from({ length: 11 }, (_, n) => `token-${n}`)],
    ['an empty one', ['good', '']],
    ['one that is too long', ['t'.repeat(8193)]],
    ['no text', [1]],
    ['no list', 'token'],
  ])('refuses grant tokens: %s', (_what, grantTokens) => {
    const opening = () => openKeyStore({ ...given, grantTokens: grantTokens as string[] })
    expect(opening).toThrow(expect.objectContaining({ name: 'InvalidGrantTokens' }))
  })

  test('is not changed by what the caller does with the options later', () => {
    const configuration = { kind: 'kmsKeyArn' as const, arn: KMS_ARN }
    const grantTokens = ['a-token']
    const keyStore = openKeyStore({ ...given, kmsConfiguration: configuration, grantTokens })
    configuration.arn = 'arn:aws:kms:us-west-2:111122223333:key/other'
    grantTokens.push('another')
    const info = keyStore.getKeyStoreInfo()
    expect(info).toMatchObject({ grantTokens: ['a-token'], kmsConfiguration: { arn: KMS_ARN } })
    expect(() => (info.grantTokens as string[]).push('another')).toThrow(TypeError)
  })
})
