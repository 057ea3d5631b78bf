import { expect, test } from 'vitest'
import { createKms } from '../../src/kms.ts'
import { bytes, freshKms, refusal, text } from '../support/kms.ts'

test('a key that waits for its deletion is refused for every use', async () => {
  const { kms, arn, clock } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  const scheduled = await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  const DeletionDate = new Date(clock.now() + 7 * 24 * 60 * 60 * 1000)
  expect(scheduled).toEqual({
    KeyId: arn,
    DeletionDate,
    KeyState: 'PendingDeletion',
    PendingWindowInDays: 7,
  })
  expect((await kms.describeKey({ KeyId: arn })).KeyMetadata).toMatchObject({
    KeyState: 'PendingDeletion',
    Enabled: false,
    DeletionDate,
  })
  const uses = [
    kms.encrypt({ KeyId: arn, Plaintext: bytes('x') }),
    kms.decrypt({ CiphertextBlob }),
    kms.generateDataKey({ KeyId: arn, NumberOfBytes: 1 }),
    kms.reEncrypt({ DestinationKeyId: arn, CiphertextBlob }),
    kms.rotateKeyOnDemand({ KeyId: arn }),
    kms.enableKey({ KeyId: arn }),
    kms.disableKey({ KeyId: arn }),
    kms.scheduleKeyDeletion({ KeyId: arn }),
  ]
  expect(await Promise.all(uses.map(refusal))).toEqual(uses.map(() => 'KMSInvalidStateException'))
})

test('the deletion is cancelled until its date, and the key is disabled then, as on AWS', async () => {
  const { kms, arn, clock } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  const { PendingWindowInDays } = await kms.scheduleKeyDeletion({ KeyId: arn })
  expect(PendingWindowInDays).toBe(30)
  clock.advance({ days: 30, ms: -1 })
  expect(await kms.cancelKeyDeletion({ KeyId: arn })).toEqual({ KeyId: arn })
  const { KeyMetadata } = await kms.describeKey({ KeyId: arn })
  expect(KeyMetadata).toMatchObject({ KeyState: 'Disabled' })
  expect(KeyMetadata).not.toHaveProperty('DeletionDate')
  expect(await refusal(kms.decrypt({ CiphertextBlob }))).toBe('DisabledException')
  clock.advance({ days: 1 })
  await kms.enableKey({ KeyId: arn })
  expect(text((await kms.decrypt({ CiphertextBlob })).Plaintext)).toBe('x')
})

test('only a deletion that was scheduled can be cancelled', async () => {
  const { kms, arn } = await freshKms()
  expect(await refusal(kms.cancelKeyDeletion({ KeyId: arn }))).toBe('KMSInvalidStateException')
})

test('a write that is repeated because its response was lost succeeds', async () => {
  const { clock, storage, masterKey, arn } = await freshKms()
  const repeating: typeof storage = {
    ...storage,
    async updateState(...change) {
      await storage.updateState(...change)
      return storage.updateState(...change)
    },
  }
  const kms = await createKms({ storage: repeating, masterKey, clock })
  const stateNow = async () => (await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState
  expect(await kms.scheduleKeyDeletion({ KeyId: arn })).toMatchObject({ KeyId: arn })
  expect(await stateNow()).toBe('PendingDeletion')
  expect(await kms.cancelKeyDeletion({ KeyId: arn })).toEqual({ KeyId: arn })
  expect(await stateNow()).toBe('Disabled')
  expect(await refusal(kms.cancelKeyDeletion({ KeyId: arn }))).toBe('KMSInvalidStateException')
})

test('who schedules a deletion at the moment that another does for another day is refused', async () => {
  const { kms, clock, storage, masterKey, arn } = await freshKms()
  const late: typeof storage = {
    ...storage,
    async updateState(...change) {
      await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
      return storage.updateState(...change)
    },
  }
  const other = await createKms({ storage: late, masterKey, clock })
  const scheduled = other.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 30 })
  expect(await refusal(scheduled)).toBe('KMSInvalidStateException')
})

test('after the date the key is refused for every use, and no call deletes it', async () => {
  const { kms, storage, arn, id, clock } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 365 })
  const uses = [
    kms.encrypt({ KeyId: arn, Plaintext: bytes('x') }),
    kms.decrypt({ CiphertextBlob }),
    kms.generateDataKey({ KeyId: arn, NumberOfBytes: 1 }),
    kms.reEncrypt({ DestinationKeyId: arn, CiphertextBlob }),
    kms.rotateKeyOnDemand({ KeyId: arn }),
    kms.enableKey({ KeyId: arn }),
    kms.disableKey({ KeyId: arn }),
    kms.scheduleKeyDeletion({ KeyId: arn }),
  ]
  expect(await Promise.all(uses.map(refusal))).toEqual(uses.map(() => 'KMSInvalidStateException'))
  expect((await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState).toBe('PendingDeletion')
  expect((await kms.listKeys()).Keys).toEqual([{ KeyId: id, KeyArn: arn }])
  expect(storage.keys.has(id)).toBe(true)
})

test('a deletion can be cancelled after its date, as long as the sweep has not deleted the key', async () => {
  const { kms, arn, clock } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 8 })
  await kms.sweep()
  await kms.cancelKeyDeletion({ KeyId: arn })
  clock.advance({ days: 1 })
  await kms.sweep()
  await kms.enableKey({ KeyId: arn })
  expect(text((await kms.decrypt({ CiphertextBlob })).Plaintext)).toBe('x')
})

test('a key is deleted once two sweeps an hour apart have seen its date pass', async () => {
  const { kms, storage, arn, id, clock, events } = await freshKms()
  const { KeyMetadata: other } = await kms.createKey()
  await kms.rotateKeyOnDemand({ KeyId: arn })
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  await kms.sweep()
  clock.advance({ days: 7 })
  await kms.sweep()
  clock.advance({ minutes: 60, ms: -1 })
  await kms.sweep()
  expect(storage.keys.has(id)).toBe(true)
  clock.advance({ ms: 1 })
  await kms.sweep()
  expect([...storage.keys.keys()]).toEqual([other.KeyId])
  expect(await refusal(kms.describeKey({ KeyId: arn }))).toBe('NotFoundException')
  expect(await refusal(kms.decrypt({ CiphertextBlob }))).toBe('InvalidCiphertextException')
  expect(events.filter(({ operation }) => operation === 'DeleteKey')).toEqual([
    { time: clock.now(), operation: 'DeleteKey', caller: 'kms', outcome: 'Success', key: arn },
  ])
})

test('the first sighting survives a restart', async () => {
  const { kms, storage, masterKey, arn, id, clock } = await freshKms()
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 7 })
  await kms.sweep()
  clock.advance({ minutes: 60 })
  await (await createKms({ masterKey, storage, clock })).sweep()
  expect(storage.keys.has(id)).toBe(false)
})

test('a clock that was wrong and is set back deletes no key, however often the sweep ran', async () => {
  const { kms, storage, arn, id, clock } = await freshKms()
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 300 })
  await kms.sweep()
  clock.advance({ days: -300 })
  await kms.sweep()
  expect(storage.keys.get(id)?.record).not.toHaveProperty('dueSeenAt')
  clock.advance({ days: 7 })
  await kms.sweep()
  expect(storage.keys.has(id)).toBe(true)
})

test('a sighting in the future counts as the first again when the date has passed', async () => {
  const { kms, storage, arn, id, clock } = await freshKms()
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 300 })
  await kms.sweep()
  clock.advance({ days: -200 })
  await kms.sweep()
  expect(storage.keys.get(id)?.record.dueSeenAt).toBe(clock.now())
  clock.advance({ minutes: 60 })
  await kms.sweep()
  expect(storage.keys.has(id)).toBe(false)
})

test('two processes that sweep a due key concurrently delete it once', async () => {
  const { kms, storage, masterKey, arn, clock, events } = await freshKms()
  const audit = (event: (typeof events)[number]) => {
    events.push(event)
  }
  const other = await createKms({ masterKey, storage, clock, audit })
  const sweepAll = () => Promise.all([kms.sweep(), other.sweep(), kms.sweep(), other.sweep()])
  await kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays: 7 })
  clock.advance({ days: 7 })
  await sweepAll()
  expect(events.filter(({ operation }) => operation === 'DeleteKey')).toHaveLength(0)
  clock.advance({ minutes: 60 })
  await sweepAll()
  expect(events.filter(({ operation }) => operation === 'DeleteKey')).toHaveLength(1)
})

test.each([6, 31, 7.5, '7', Number.NaN])('a window of %o days is refused', async (days) => {
  const { kms, arn } = await freshKms()
  const PendingWindowInDays = days as number
  expect(await refusal(kms.scheduleKeyDeletion({ KeyId: arn, PendingWindowInDays }))).toBe(
    'ValidationException',
  )
  expect((await kms.describeKey({ KeyId: arn })).KeyMetadata.KeyState).toBe('Enabled')
})
