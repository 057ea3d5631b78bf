import { expect, test } from 'vitest'
import { createKms } from '../src/kms.ts'
import { bytes, freshKms, refusal } from './support/kms.ts'

test('every call is recorded with operation, key, context, caller and outcome', async () => {
  const { kms, arn, events, clock } = await freshKms()
  const EncryptionContext = { tenant: 'a' }
  const { CiphertextBlob } = await kms.encrypt({
    KeyId: arn,
    Plaintext: bytes('x'),
    EncryptionContext,
  })
  const app = kms.as('app')
  await app.decrypt({ CiphertextBlob, EncryptionContext })
  await refusal(app.decrypt({ CiphertextBlob, EncryptionContext: { tenant: 'b' } }))
  await app.reEncrypt({
    CiphertextBlob,
    SourceEncryptionContext: EncryptionContext,
    DestinationKeyId: arn,
    DestinationEncryptionContext: { tenant: 'c' },
  })
  await refusal(app.describeKey({ KeyId: 'alias/mine' }))
  await app.listKeys()
  await refusal(app.encrypt({ KeyId: arn, Plaintext: new Uint8Array(0) }))
  const time = clock.now()
  expect(events).toEqual([
    { time, operation: 'CreateKey', caller: 'in-process', outcome: 'Success', key: arn },
    {
      time,
      operation: 'Encrypt',
      caller: 'in-process',
      outcome: 'Success',
      key: arn,
      context: EncryptionContext,
    },
    {
      time,
      operation: 'Decrypt',
      caller: 'app',
      outcome: 'Success',
      key: arn,
      context: EncryptionContext,
    },
    {
      time,
      operation: 'Decrypt',
      caller: 'app',
      outcome: 'InvalidCiphertextException',
      key: arn,
      context: { tenant: 'b' },
    },
    {
      time,
      operation: 'ReEncrypt',
      caller: 'app',
      outcome: 'Success',
      key: arn,
      context: { tenant: 'c' },
      sourceKey: arn,
      sourceContext: EncryptionContext,
    },
    {
      time,
      operation: 'DescribeKey',
      caller: 'app',
      outcome: 'NotFoundException',
      key: 'alias/mine',
    },
    { time, operation: 'ListKeys', caller: 'app', outcome: 'Success' },
    {
      time,
      operation: 'Encrypt',
      caller: 'app',
      outcome: 'ValidationException',
      key: arn,
      context: {},
    },
  ])
})

test('no record holds plaintext, key material or a blob', async () => {
  const { kms, arn, events, masterKey, storage, id } = await freshKms()
  const { Plaintext, CiphertextBlob } = await kms.generateDataKey({ KeyId: arn, NumberOfBytes: 32 })
  await kms.encrypt({ KeyId: arn, Plaintext })
  await kms.decrypt({ CiphertextBlob })
  await kms.reEncrypt({ CiphertextBlob, DestinationKeyId: arn })
  await kms.rotateKeyOnDemand({ KeyId: arn })
  const records = JSON.stringify(events)
  const secrets = [
    Plaintext,
    CiphertextBlob,
    masterKey,
    storage.keys.get(id)?.versions.get(1)?.wrapped,
  ]
  for (const secret of secrets) {
    for (const form of ['hex', 'base64', 'base64url'] as const) {
      expect(records).not.toContain(
        Buffer.from(secret ?? [])
          .toString(form)
          .slice(0, 20),
      )
    }
  }
  const members = new Set(events.flatMap((event) => Object.keys(event)))
  expect([...members].toSorted()).toEqual([
    'caller',
    'context',
    'key',
    'operation',
    'outcome',
    'sourceContext',
    'sourceKey',
    'time',
  ])
})

test('a call that cannot be recorded returns nothing', async () => {
  const { kms, storage, masterKey, arn } = await freshKms()
  const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
  const unrecorded = await createKms({
    masterKey,
    storage,
    audit() {
      throw new Error('The disk is full')
    },
  })
  await expect(unrecorded.decrypt({ CiphertextBlob })).rejects.toThrow('The disk is full')
  await expect(unrecorded.describeKey({ KeyId: arn })).rejects.toThrow('The disk is full')
})
