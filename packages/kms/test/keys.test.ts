import { describe, expect, test } from 'vitest'
import { createKms } from '../src/kms.ts'
import { bytes, freshKms, refusal, text } from './support/kms.ts'

const ABSENT = '00000000-0000-4000-8000-000000000000'

describe('a key', () => {
  test('has an ARN of its own, is enabled, and is described as AWS does', async () => {
    const { kms, arn, id, clock } = await freshKms()
    expect(arn).toMatch(/^arn:local:kms:local:000000000000:key\/[0-9a-f-]{36}$/)
    const { KeyMetadata } = await kms.describeKey({ KeyId: id })
    expect(KeyMetadata).toEqual({
      AWSAccountId: '000000000000',
      KeyId: id,
      Arn: arn,
      CreationDate: new Date(clock.now()),
      Enabled: true,
      Description: 'for tests',
      KeyUsage: 'ENCRYPT_DECRYPT',
      KeyState: 'Enabled',
      Origin: 'AWS_KMS',
      KeyManager: 'CUSTOMER',
      KeySpec: 'SYMMETRIC_DEFAULT',
      CustomerMasterKeySpec: 'SYMMETRIC_DEFAULT',
      EncryptionAlgorithms: ['SYMMETRIC_DEFAULT'],
      MultiRegion: false,
    })
  })

  test('keeps its ARN and opens its blobs in another process on the same store', async () => {
    const { kms, storage, masterKey, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('secret') })
    const restarted = await createKms({ masterKey, storage })
    const opened = await restarted.decrypt({ CiphertextBlob })
    expect(opened.KeyId).toBe(arn)
    expect(text(opened.Plaintext)).toBe('secret')
  })

  test.each([
    ['NotFoundException', ABSENT],
    ['NotFoundException', `arn:local:kms:local:000000000000:key/${ABSENT}`],
    ['NotFoundException', 'arn:local:kms:local:000000000000:key/something'],
    ['NotFoundException', `arn:aws:kms:local:000000000000:key/${ABSENT}`],
    ['NotFoundException', `arn:local:kms:us-east-1:000000000000:key/${ABSENT}`],
    ['NotFoundException', `arn:local:kms:local:111122223333:key/${ABSENT}`],
    ['NotFoundException', 'alias/mine'],
    ['NotFoundException', 'arn:local:kms:local:000000000000:alias/mine'],
    ['ValidationException', 'mine'],
    ['ValidationException', ABSENT.toUpperCase().replace('4', 'A')],
    ['ValidationException', `arn:local:s3:local:000000000000:key/${ABSENT}`],
    ['ValidationException', 'arn:'],
  ])('that there is not: %s for %s, from every operation', async (name, KeyId) => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    const calls = [
      kms.describeKey({ KeyId }),
      kms.encrypt({ KeyId, Plaintext: bytes('x') }),
      kms.decrypt({ KeyId, CiphertextBlob }),
      kms.generateDataKey({ KeyId, NumberOfBytes: 1 }),
      kms.generateDataKeyWithoutPlaintext({ KeyId, NumberOfBytes: 1 }),
      kms.reEncrypt({ SourceKeyId: KeyId, DestinationKeyId: arn, CiphertextBlob }),
      kms.reEncrypt({ DestinationKeyId: KeyId, CiphertextBlob }),
      kms.rotateKeyOnDemand({ KeyId }),
      kms.enableKey({ KeyId }),
      kms.disableKey({ KeyId }),
      kms.scheduleKeyDeletion({ KeyId }),
      kms.cancelKeyDeletion({ KeyId }),
    ]
    expect(await Promise.all(calls.map(refusal))).toEqual(calls.map(() => name))
  })
})

describe('the list of keys', () => {
  test('has every key once, page by page', async () => {
    const { kms, arn } = await freshKms()
    const made = await Promise.all(Array.from({ length: 6 }, () => kms.createKey()))
    const all = [arn, ...made.map(({ KeyMetadata }) => KeyMetadata.Arn)].toSorted()
    expect((await kms.listKeys()).Keys.map(({ KeyArn }) => KeyArn)).toEqual(all)
    const listed: string[] = []
    let Marker: string | undefined
    do {
      const page = await kms.listKeys({ Limit: 3, Marker })
      expect(page.Truncated).toBe(page.NextMarker !== undefined)
      listed.push(...page.Keys.map(({ KeyArn }) => KeyArn))
      Marker = page.NextMarker
    } while (Marker !== undefined)
    expect(listed).toEqual(all)
  })

  test('does not continue from a marker that it did not give', async () => {
    const { kms } = await freshKms()
    expect(await refusal(kms.listKeys({ Marker: 'x' }))).toBe('InvalidMarkerException')
  })
})

describe('rotation', () => {
  test('keeps the ARN, and blobs of every earlier version open', async () => {
    const { kms, storage, masterKey, arn, id } = await freshKms()
    const blobs: Uint8Array[] = []
    for (let n = 0; n < 4; n += 1) {
      const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes(`${n}`) })
      blobs.push(CiphertextBlob)
      expect(await kms.rotateKeyOnDemand({ KeyId: id })).toEqual({ KeyId: arn })
    }
    expect(storage.keys.get(id)?.record).toMatchObject({ currentVersion: 5, arn })
    const restarted = await createKms({ masterKey, storage })
    for (const instance of [kms, restarted]) {
      const opened = await Promise.all(
        blobs.map((CiphertextBlob) => instance.decrypt({ CiphertextBlob })),
      )
      expect(opened.map(({ Plaintext }) => text(Plaintext))).toEqual(['0', '1', '2', '3'])
      expect(new Set(opened.map(({ KeyId }) => KeyId))).toEqual(new Set([arn]))
    }
  })

  test('changes what new blobs are made with, in other processes too', async () => {
    const { kms, storage, masterKey, arn, id } = await freshKms()
    const other = await createKms({ masterKey, storage })
    await other.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    await kms.rotateKeyOnDemand({ KeyId: arn })
    const { CiphertextBlob } = await other.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    storage.keys.get(id)?.versions.delete(1)
    const restarted = await createKms({ masterKey, storage })
    expect(text((await restarted.decrypt({ CiphertextBlob })).Plaintext)).toBe('x')
  })

  test('ends at 99 backing keys, with a clear refusal', async () => {
    const { kms, arn } = await freshKms()
    for (let n = 0; n < 98; n += 1) await kms.rotateKeyOnDemand({ KeyId: arn })
    expect(await refusal(kms.rotateKeyOnDemand({ KeyId: arn }))).toBe('LimitExceededException')
  })

  test('by two processes concurrently gives one new version each, or a conflict, and loses nothing', async () => {
    const { kms, storage, masterKey, arn, id } = await freshKms()
    const others = await Promise.all(
      Array.from({ length: 8 }, () => createKms({ masterKey, storage })),
    )
    const { CiphertextBlob: old } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('old') })
    const outcomes = await Promise.all(
      others.map((other) => refusal(other.rotateKeyOnDemand({ KeyId: arn }))),
    )
    const rotated = outcomes.filter((outcome) => outcome === 'no error').length
    expect(rotated).toBeGreaterThan(0)
    expect(new Set(outcomes)).toEqual(new Set(['no error', 'ConflictException']))
    expect(storage.keys.get(id)?.versions.size).toBe(1 + rotated)
    for (const instance of [kms, ...others]) {
      const { CiphertextBlob } = await instance.encrypt({ KeyId: arn, Plaintext: bytes('new') })
      const opened = await kms.decrypt({ CiphertextBlob })
      expect(text(opened.Plaintext)).toBe('new')
      expect(text((await instance.decrypt({ CiphertextBlob: old })).Plaintext)).toBe('old')
    }
  })
})

describe('a disabled key', () => {
  test('is rejected for every use and works again when it is enabled', async () => {
    const { kms, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    await kms.disableKey({ KeyId: arn })
    const uses = () => [
      kms.encrypt({ KeyId: arn, Plaintext: bytes('x') }),
      kms.decrypt({ CiphertextBlob }),
      kms.decrypt({ KeyId: arn, CiphertextBlob }),
      kms.generateDataKey({ KeyId: arn, NumberOfBytes: 1 }),
      kms.generateDataKeyWithoutPlaintext({ KeyId: arn, NumberOfBytes: 1 }),
      kms.reEncrypt({ DestinationKeyId: arn, CiphertextBlob }),
      kms.rotateKeyOnDemand({ KeyId: arn }),
    ]
    const refused = await Promise.all(uses().map(refusal))
    expect(new Set(refused)).toEqual(new Set(['DisabledException']))
    expect((await kms.describeKey({ KeyId: arn })).KeyMetadata).toMatchObject({
      KeyState: 'Disabled',
      Enabled: false,
    })
    await kms.enableKey({ KeyId: arn })
    expect(new Set(await Promise.all(uses().map(refusal)))).toEqual(new Set(['no error']))
  })

  test('is refused from the next call on when another process disables it', async () => {
    const { kms, storage, masterKey, arn } = await freshKms()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    const other = await createKms({ masterKey, storage })
    await other.disableKey({ KeyId: arn })
    expect(await refusal(kms.decrypt({ CiphertextBlob }))).toBe('DisabledException')
  })

  test('may be disabled again, as an enabled one may be enabled', async () => {
    const { kms, arn, id, storage } = await freshKms()
    await kms.enableKey({ KeyId: arn })
    await kms.disableKey({ KeyId: arn })
    await kms.disableKey({ KeyId: arn })
    expect(storage.keys.get(id)?.record.revision).toBe(2)
  })

  test('ends in one state when many processes change it concurrently', async () => {
    const { kms, storage, masterKey, arn } = await freshKms()
    const others = await Promise.all(
      Array.from({ length: 6 }, () => createKms({ masterKey, storage })),
    )
    const outcomes = await Promise.all(
      others.map((other, n) =>
        refusal(n % 2 ? other.enableKey({ KeyId: arn }) : other.disableKey({ KeyId: arn })),
      ),
    )
    expect(new Set(outcomes)).toEqual(new Set(['no error']))
    await kms.disableKey({ KeyId: arn })
    expect((await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState).toBe('Disabled')
  })
})

describe('a multi-Region key', () => {
  test('has the same id and material in every region, and an ARN in each', async () => {
    const west = await freshKms({ region: 'us-west-2' })
    const { storage, masterKey } = west
    const east = await createKms({ masterKey, storage, region: 'us-east-1' })
    const { KeyMetadata: key } = await west.kms.createKey({ MultiRegion: true })
    expect(key.Arn).toMatch(/^arn:local:kms:us-west-2:000000000000:key\/mrk-[0-9a-f]{32}$/)
    expect(key.MultiRegion).toBe(true)
    const eastArn = key.Arn.replace('us-west-2', 'us-east-1')
    const { CiphertextBlob } = await west.kms.encrypt({ KeyId: key.Arn, Plaintext: bytes('x') })
    expect((await east.decrypt({ KeyId: eastArn, CiphertextBlob })).KeyId).toBe(eastArn)
    expect((await east.decrypt({ CiphertextBlob })).KeyId).toBe(eastArn)
    expect((await east.describeKey({ KeyId: key.KeyId })).KeyMetadata.Arn).toBe(eastArn)
    expect(await refusal(east.decrypt({ KeyId: key.Arn, CiphertextBlob }))).toBe(
      'NotFoundException',
    )
    expect((await east.listKeys()).Keys).toEqual([{ KeyId: key.KeyId, KeyArn: eastArn }])
  })

  test('is the only kind that another region has', async () => {
    const west = await freshKms({ region: 'us-west-2' })
    const { storage, masterKey, id } = west
    const east = await createKms({ masterKey, storage, region: 'us-east-1' })
    const { CiphertextBlob } = await west.kms.encrypt({ KeyId: id, Plaintext: bytes('x') })
    expect(await refusal(east.describeKey({ KeyId: id }))).toBe('NotFoundException')
    expect(await refusal(east.decrypt({ CiphertextBlob }))).toBe('InvalidCiphertextException')
  })

  test('is of one account and partition', async () => {
    const { kms, storage, masterKey } = await freshKms({ region: 'us-west-2' })
    const { KeyMetadata: key } = await kms.createKey({ MultiRegion: true })
    const stranger = await createKms({ masterKey, storage, account: '111122223333' })
    expect(await refusal(stranger.describeKey({ KeyId: key.KeyId }))).toBe('NotFoundException')
  })
})
