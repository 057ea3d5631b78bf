import {
  CancelKeyDeletionCommand,
  CreateKeyCommand,
  DecryptCommand,
  DescribeKeyCommand,
  DisableKeyCommand,
  DisabledException,
  EnableKeyCommand,
  EncryptCommand,
  GenerateDataKeyCommand,
  GenerateDataKeyWithoutPlaintextCommand,
  GetKeyPolicyCommand,
  IncorrectKeyException,
  InvalidCiphertextException,
  KMSClient,
  KMSInvalidStateException,
  ListKeysCommand,
  NotFoundException,
  ReEncryptCommand,
  RotateKeyOnDemandCommand,
  ScheduleKeyDeletionCommand,
} from '@aws-sdk/client-kms'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { embedded } from '../src/sdk.ts'
import { serveKms } from '../src/serve.ts'
import { bytes, freshDirectory, freshKms, refusal, text, type FreshKms } from './support/kms.ts'

const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret of the test' }

/** The SDK's client on each face of a KMS. The clock is the real one, because the SDK signs with it. */
const faces: [string, (fresh: FreshKms) => Promise<KMSClient>][] = [
  ['in process', async ({ kms }) => new KMSClient({ ...embedded(kms) })],
  [
    'over HTTP on a port',
    async ({ kms }) => {
      const server = await serveKms(kms, { port: 0, credentials: [credentials] })
      onTestFinished(() => server.close())
      const endpoint = `http://127.0.0.1:${server.port}`
      return new KMSClient({ endpoint, region: 'local', credentials, maxAttempts: 1 })
    },
  ],
  [
    'over HTTP on a socket',
    async ({ kms }) => {
      const socketPath = join(freshDirectory(), 'kms.sock')
      const server = await serveKms(kms, { socketPath, credentials: [credentials] })
      onTestFinished(() => server.close())
      // The types of Node do not know that an agent hands this on.
      const options = { keepAlive: true, socketPath }
      const httpAgent = new Agent(options)
      return new KMSClient({
        endpoint: 'http://localhost',
        region: 'local',
        credentials,
        maxAttempts: 1,
        requestHandler: { httpAgent },
      })
    },
  ],
]

describe.each(faces)("the AWS SDK's client %s", (_face, connect) => {
  async function freshClient() {
    const fresh = await freshKms({ clock: { now: () => Date.now() } })
    const client = await connect(fresh)
    onTestFinished(() => client.destroy())
    return { ...fresh, client }
  }

  test('has every operation', async () => {
    const { client } = await freshClient()
    const { KeyMetadata } = await client.send(new CreateKeyCommand({ Description: 'mine' }))
    const KeyId = KeyMetadata?.Arn
    expect(KeyMetadata?.CreationDate).toBeInstanceOf(Date)
    const EncryptionContext = { ключ: 'значение 🔑' }

    const made = await client.send(
      new GenerateDataKeyCommand({ KeyId, KeySpec: 'AES_256', EncryptionContext }),
    )
    const opened = await client.send(
      new DecryptCommand({ KeyId, CiphertextBlob: made.CiphertextBlob, EncryptionContext }),
    )
    expect(opened).toMatchObject({ KeyId, EncryptionAlgorithm: 'SYMMETRIC_DEFAULT' })
    expect(opened.Plaintext).toEqual(made.Plaintext)
    expect(opened.Plaintext).toHaveLength(32)

    const bare = await client.send(
      new GenerateDataKeyWithoutPlaintextCommand({ KeyId, NumberOfBytes: 32, GrantTokens: ['x'] }),
    )
    expect(bare).not.toHaveProperty('Plaintext')
    const moved = await client.send(
      new ReEncryptCommand({
        CiphertextBlob: bare.CiphertextBlob,
        SourceKeyId: KeyId,
        DestinationKeyId: KeyId,
        DestinationEncryptionContext: { a: 'b' },
      }),
    )
    expect(moved).toMatchObject({ SourceKeyId: KeyId, KeyId })

    const sealed = await client.send(new EncryptCommand({ KeyId, Plaintext: bytes('secret') }))
    await client.send(new RotateKeyOnDemandCommand({ KeyId }))
    const old = await client.send(new DecryptCommand({ CiphertextBlob: sealed.CiphertextBlob }))
    expect(text(old.Plaintext ?? bytes(''))).toBe('secret')

    await client.send(new DisableKeyCommand({ KeyId }))
    await client.send(new EnableKeyCommand({ KeyId }))
    const { DeletionDate } = await client.send(new ScheduleKeyDeletionCommand({ KeyId }))
    expect(DeletionDate).toBeInstanceOf(Date)
    await client.send(new CancelKeyDeletionCommand({ KeyId }))
    const described = await client.send(new DescribeKeyCommand({ KeyId }))
    expect(described.KeyMetadata).toMatchObject({ KeyState: 'Disabled', Arn: KeyId })
    const { Keys } = await client.send(new ListKeysCommand())
    expect(Keys).toHaveLength(2)
  })

  test("gets failures as the SDK's own exceptions, with status 400", async () => {
    const { kms, client, arn } = await freshClient()
    const { KeyMetadata: other } = await kms.createKey()
    const { CiphertextBlob } = await kms.encrypt({ KeyId: arn, Plaintext: bytes('x') })
    const decrypt = (input: object) =>
      client.send(new DecryptCommand({ CiphertextBlob, ...input })).catch((error: unknown) => error)
    expect(await decrypt({ EncryptionContext: { a: 'b' } })).toBeInstanceOf(
      InvalidCiphertextException,
    )
    const incorrect = await decrypt({ KeyId: other.Arn })
    expect(incorrect).toBeInstanceOf(IncorrectKeyException)
    expect(incorrect).toMatchObject({
      message: 'CiphertextBlob was encrypted under another key than the one given',
      $metadata: { httpStatusCode: 400 },
    })
    expect(await decrypt({ KeyId: 'alias/mine' })).toBeInstanceOf(NotFoundException)
    expect(await decrypt({ CiphertextBlob: new Uint8Array(6145) })).toMatchObject({
      name: 'ValidationException',
    })
    await kms.disableKey({ KeyId: arn })
    expect(await decrypt({})).toBeInstanceOf(DisabledException)
    await kms.scheduleKeyDeletion({ KeyId: arn })
    expect(await decrypt({})).toBeInstanceOf(KMSInvalidStateException)
    expect(await refusal(client.send(new GetKeyPolicyCommand({ KeyId: arn })))).toBe(
      'UnknownOperationException',
    )
  })

  test('makes many calls at a time', async () => {
    const { client, arn } = await freshClient()
    const contents = Array.from({ length: 40 }, (_, n) => `secret ${n}`)
    const opened = await Promise.all(
      contents.map(async (content) => {
        const { CiphertextBlob } = await client.send(
          new EncryptCommand({ KeyId: arn, Plaintext: bytes(content) }),
        )
        const { Plaintext } = await client.send(new DecryptCommand({ CiphertextBlob }))
        return text(Plaintext ?? bytes(''))
      }),
    )
    expect(opened).toEqual(contents)
  })
})

test('in process, a request that is aborted before it begins is not executed', async () => {
  const { kms, storage } = await freshKms()
  const client = new KMSClient({ ...embedded(kms) })
  const abort = new AbortController()
  abort.abort()
  const call = client.send(new CreateKeyCommand(), { abortSignal: abort.signal })
  expect(await refusal(call)).toBe('AbortError')
  expect(storage.keys.size).toBe(1)
})

test('in process, a defect is shown as it is', async () => {
  const { kms } = await freshKms()
  const broken = { ...kms, listKeys: () => Promise.reject(new Error('detail')) }
  const client = new KMSClient({ ...embedded(broken) })
  await expect(client.send(new ListKeysCommand())).rejects.toThrow('detail')
})

test('over HTTP, the access key is the caller in audit records', async () => {
  const { kms, events } = await freshKms({ clock: { now: () => Date.now() } })
  const server = await serveKms(kms, { port: 0, credentials: [credentials] })
  onTestFinished(() => server.close())
  const client = new KMSClient({
    endpoint: `http://127.0.0.1:${server.port}`,
    region: 'local',
    credentials,
  })
  onTestFinished(() => client.destroy())
  await client.send(new ListKeysCommand())
  expect(events.at(-1)).toMatchObject({ operation: 'ListKeys', caller: 'AKIDTEST' })
})
