import { randomBytes } from 'node:crypto'
import { DecryptCommand, KMSClient } from '@aws-sdk/client-kms'
import { systemClock } from '@strongroom/platform/clock'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { createKms } from '@strongroom/kms/kms'
import { serveKms } from '@strongroom/kms/serve'
import { memoryKeyStorage } from '@strongroom/kms/testing/memory-key-storage'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { kmsKind, openKms } from '../../src/kms/open.ts'
import { settings } from '../../src/settings.ts'
import type { Store } from '../../src/store.ts'

const context = { purpose: 'test' }
const ARN = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'

describe('a KMS behind an endpoint', () => {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'test-secret' }

  async function endpoint() {
    const kms = await createKms({ masterKey: randomBytes(32), storage: memoryKeyStorage() })
    const { Arn } = (await kms.createKey()).KeyMetadata
    const server = await serveKms(kms, { port: 0, credentials: [credentials] })
    onTestFinished(() => server.close())
    vi.stubEnv('AWS_ACCESS_KEY_ID', credentials.accessKeyId)
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', credentials.secretAccessKey)
    onTestFinished(() => void vi.unstubAllEnvs())
    const env = { KMS_ENDPOINT: `http://127.0.0.1:${server.port}`, KMS_KEY_ARN: Arn }
    return { kms, arn: Arn, env, server }
  }
  // It needs no store of its own.
  const noStore = { db: {} as Store['db'], kind: 'aws' as const, location: '' }
  const open = (env: Record<string, string>, clock = systemClock) =>
    openKms(settings.parse(env), noStore, { clock })

  test('encrypts and decrypts with the configured key', async () => {
    const { env, arn } = await endpoint()
    const { key, close, label, detail } = await open(env)
    expect([key.arn, label, detail]).toEqual([arn, 'KMS endpoint', 'set by KMS_ENDPOINT'])
    const { CiphertextBlob } = await key.kms.encrypt({
      KeyId: arn,
      Plaintext: Buffer.from('hello'),
      EncryptionContext: context,
    })
    const blob = { KeyId: arn, CiphertextBlob, EncryptionContext: context }
    const { Plaintext } = await key.kms.decrypt(blob)
    expect(Buffer.from(Plaintext).toString()).toBe('hello')
    await close()
    // Nothing about it is ours: any client of that KMS opens it.
    const sdk = new KMSClient({ endpoint: env.KMS_ENDPOINT, region: 'local', credentials })
    const opened = await sdk.send(new DecryptCommand(blob))
    expect(Buffer.from(opened.Plaintext ?? []).toString()).toBe('hello')
    sdk.destroy()
  })

  test('is not ready while its key is disabled, and is called every few seconds at most', async () => {
    const { env, arn, kms } = await endpoint()
    const clock = testClock(Date.now())
    const { check, close } = await open(env, clock)
    await check()
    await kms.disableKey({ KeyId: arn })
    await check()
    clock.advance({ seconds: 5 })
    await expect(check()).rejects.toThrow('The KMS key cannot be used: it is Disabled')
    await kms.enableKey({ KeyId: arn })
    clock.advance({ seconds: 5 })
    await check()
    await close()
  })

  test('is called again after the clock was set back', async () => {
    const { env, arn, kms } = await endpoint()
    let now = Date.now()
    const { check, close } = await open(env, { now: () => now })
    await check()
    await kms.disableKey({ KeyId: arn })
    now -= 60 * 60 * 1000
    await expect(check()).rejects.toThrow('it is Disabled')
    await close()
  })

  test('is reported in one line if it is unreachable or rejects the key or the caller', async () => {
    const { env, server } = await endpoint()
    const unknown = env.KMS_KEY_ARN.replace(/.{12}$/, '000000000000')
    await expect(open({ ...env, KMS_KEY_ARN: unknown })).rejects.toThrow(
      `Cannot use the key of KMS endpoint at ${env.KMS_ENDPOINT} (NotFoundException): check KMS_ENDPOINT, KMS_KEY_ARN and the AWS credentials`,
    )
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'another')
    await expect(open(env)).rejects.toThrow(/\((?:InvalidSignature|IncompleteSignature)\w*\)/)
    await server.close()
    await expect(open(env)).rejects.toThrow('(ECONNREFUSED)')
  })
})

describe('the settings of the KMS', () => {
  const kind = (env: Record<string, string>) => kmsKind(settings.parse(env))
  const SHARED =
    'A shared store requires a shared KMS: set KMS_KEY_ARN, and STRONGROOM_KMS=aws or KMS_ENDPOINT. The embedded KMS works with DYNAMODB_ENDPOINT on this machine only, such as http://127.0.0.1:8000'

  test.each([
    [{}, 'embedded'],
    [{ STRONGROOM_KMS: 'embedded' }, 'embedded'],
    [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:1' }, 'embedded'],
    [{ DYNAMODB_ENDPOINT: 'http://localhost:8000' }, 'embedded'],
    [{ DYNAMODB_ENDPOINT: 'http://[::1]:8000', STRONGROOM_KMS: 'embedded' }, 'embedded'],
    [{ STRONGROOM_KMS: 'aws', KMS_KEY_ARN: ARN }, 'aws'],
    [{ STRONGROOM_STORE: 'aws', KMS_KEY_ARN: ARN }, 'aws'],
    [{ KMS_ENDPOINT: 'http://127.0.0.1:1', KMS_KEY_ARN: ARN }, 'endpoint'],
    [{ STRONGROOM_KMS: 'aws', KMS_ENDPOINT: 'http://127.0.0.1:1', KMS_KEY_ARN: ARN }, 'endpoint'],
    [{ DYNAMODB_ENDPOINT: 'http://127.0.0.1:1', STRONGROOM_KMS: 'aws', KMS_KEY_ARN: ARN }, 'aws'],
  ] as [Record<string, string>, string][])('%o: %s', (env, expected) => {
    expect(kind(env)).toBe(expected)
  })

  test.each([
    [{ DYNAMODB_ENDPOINT: 'http://10.0.0.1:8000' }, SHARED],
    [{ DYNAMODB_ENDPOINT: 'http://dynamodb-local:8000' }, SHARED],
    [{ DYNAMODB_ENDPOINT: 'http://localhost.example:8000' }, SHARED],
    [{ DYNAMODB_ENDPOINT: 'http://10.0.0.1:8000', STRONGROOM_KMS: 'embedded' }, SHARED],
    [{ STRONGROOM_STORE: 'aws', STRONGROOM_KMS: 'embedded', KMS_KEY_ARN: ARN }, SHARED],
    [{ STRONGROOM_STORE: 'aws' }, 'AWS KMS needs a key: set KMS_KEY_ARN'],
    [{ STRONGROOM_KMS: 'aws' }, 'AWS KMS needs a key: set KMS_KEY_ARN'],
    [{ KMS_ENDPOINT: 'http://127.0.0.1:1' }, 'KMS_ENDPOINT needs a key: set KMS_KEY_ARN'],
    [
      { KMS_KEY_ARN: ARN },
      'KMS_KEY_ARN is set, but the embedded KMS has its own key: also set STRONGROOM_KMS=aws or KMS_ENDPOINT, or unset KMS_KEY_ARN',
    ],
  ] as [Record<string, string>, string][])('%o is refused', (env, message) => {
    expect(() => kind(env)).toThrow(message)
  })

  test.each(['alias/mine', 'arn:aws:kms:eu-central-1:111122223333:alias/mine', 'x', `${ARN}/x`])(
    'a key is named by its ARN, not %s',
    (KMS_KEY_ARN) => {
      expect(() => settings.parse({ KMS_KEY_ARN })).toThrow(
        'KMS_KEY_ARN must be the ARN of a KMS key',
      )
    },
  )
})
