import type { IncomingMessage } from 'node:http'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type AwsKms, createAwsKms } from '../src/aws-kms.ts'
import { isUnavailable } from '../src/db-errors.ts'
import { closedPort, serveHttp } from './loopback-server.ts'

const KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab'
const blob = Uint8Array.from([1, 2, 3])
const base64 = Buffer.from(blob).toString('base64')

interface Seen {
  target: string
  userAgent: string
  body: unknown
}

/** A KMS that returns these responses in order and then repeats the last one. */
async function kmsThatAnswers(...answers: { status: number; body: object }[]) {
  const seen: Seen[] = []
  const port = await serveHttp((request, response) => {
    void (async () => {
      seen.push({
        target: String(request.headers['x-amz-target']),
        userAgent: String(request.headers['user-agent']),
        body: JSON.parse(await textOf(request)),
      })
      const answer = answers[Math.min(seen.length, answers.length) - 1]
      response.writeHead(answer?.status ?? 500, { 'content-type': 'application/x-amz-json-1.1' })
      response.end(JSON.stringify(answer?.body))
    })()
  })
  return { seen, kms: open(`http://127.0.0.1:${port}`) }
}

async function kmsThatSends(status: number, body: string): Promise<AwsKms> {
  const port = await serveHttp((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html' })
    response.end(body)
  })
  return open(`http://127.0.0.1:${port}`)
}

function open(endpoint: string): AwsKms {
  const credentials = { accessKeyId: 'test', secretAccessKey: 'very-secret' }
  const kms = createAwsKms({ region: 'eu-central-1', endpoint, credentials })
  onTestFinished(() => kms.close())
  return kms
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

const ok = (body: object) => ({ status: 200, body })
const failed = (type: string, status = 400) => ({
  status,
  body: { __type: type, message: 'KMS says no' },
})

describe('KMS over the AWS SDK', () => {
  const context = { 'branch-key-id': 'tenant', ключ: '🔑' }

  test('generates a data key without its plaintext', async () => {
    const { kms, seen } = await kmsThatAnswers(ok({ KeyId: KEY, CiphertextBlob: base64 }))
    const answer = await kms.generateDataKeyWithoutPlaintext({
      KeyId: KEY,
      NumberOfBytes: 32,
      EncryptionContext: context,
      GrantTokens: ['a-token'],
    })
    expect(answer).toEqual({ KeyId: KEY, CiphertextBlob: blob })
    expect(seen).toMatchObject([
      {
        target: 'TrentService.GenerateDataKeyWithoutPlaintext',
        body: {
          KeyId: KEY,
          NumberOfBytes: 32,
          EncryptionContext: context,
          GrantTokens: ['a-token'],
        },
      },
    ])
  })

  test('encrypts and decrypts plain bytes', async () => {
    const { kms, seen } = await kmsThatAnswers(
      ok({ KeyId: KEY, CiphertextBlob: base64 }),
      ok({ KeyId: KEY, Plaintext: base64 }),
    )
    expect(await kms.encrypt({ KeyId: KEY, Plaintext: blob })).toEqual({
      KeyId: KEY,
      CiphertextBlob: blob,
    })
    expect(await kms.decrypt({ KeyId: KEY, CiphertextBlob: blob })).toEqual({
      KeyId: KEY,
      Plaintext: blob,
    })
    expect(seen).toMatchObject([
      { target: 'TrentService.Encrypt', body: { KeyId: KEY, Plaintext: base64 } },
      { target: 'TrentService.Decrypt', body: { KeyId: KEY, CiphertextBlob: base64 } },
    ])
  })

  test('re-encrypts from one context to another', async () => {
    const answer = { SourceKeyId: KEY, KeyId: KEY, CiphertextBlob: base64 }
    const { kms, seen } = await kmsThatAnswers(ok(answer))
    const input = {
      SourceKeyId: KEY,
      SourceEncryptionContext: context,
      DestinationKeyId: KEY,
      DestinationEncryptionContext: { other: 'context' },
    }
    expect(await kms.reEncrypt({ ...input, CiphertextBlob: blob })).toEqual({
      ...answer,
      CiphertextBlob: blob,
    })
    expect(seen).toMatchObject([
      { target: 'TrentService.ReEncrypt', body: { ...input, CiphertextBlob: base64 } },
    ])
  })

  test('describes a key', async () => {
    const KeyMetadata = { KeyId: 'id', Arn: KEY, KeyState: 'Enabled', Enabled: true }
    const { kms, seen } = await kmsThatAnswers(ok({ KeyMetadata }))
    expect(await kms.describeKey({ KeyId: KEY })).toEqual({ KeyMetadata })
    expect(seen).toMatchObject([{ target: 'TrentService.DescribeKey', body: { KeyId: KEY } }])
  })

  // KS-55
  test('sends the user agent of AWS’s branch key libraries', async () => {
    const { kms, seen } = await kmsThatAnswers(ok({ KeyId: KEY, Plaintext: base64 }))
    await kms.decrypt({ KeyId: KEY, CiphertextBlob: blob })
    expect(seen[0]?.userAgent).toMatch(/ aws-kms-hierarchy$/)
  })

  test.each(['InvalidCiphertextException', 'AccessDeniedException', 'DisabledException'])(
    'passes on %s by its name, at once, without the exchange',
    async (name) => {
      const { kms, seen } = await kmsThatAnswers(failed(name))
      const error: unknown = await kms
        .decrypt({ KeyId: KEY, CiphertextBlob: blob })
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name, message: 'KMS says no' })
      expect(Object.keys(error as object)).toEqual(['name'])
      expect(seen).toHaveLength(1)
    },
  )

  test('retries when KMS fails temporarily', async () => {
    const { kms, seen } = await kmsThatAnswers(
      failed('KMSInternalException', 500),
      ok({ KeyId: KEY, Plaintext: base64 }),
    )
    await kms.decrypt({ KeyId: KEY, CiphertextBlob: blob })
    expect(seen).toHaveLength(2)
  })

  test.each([
    ['a page of a proxy', 502, '<html>Bad gateway</html>'],
    ['a page of a captive portal', 200, '<html>Sign in</html>'],
    ['nothing', 500, ''],
  ])('treats %s in place of a response as unavailability of KMS', async (_what, status, body) => {
    const kms = await kmsThatSends(status, body)
    const error: unknown = await kms
      .decrypt({ KeyId: KEY, CiphertextBlob: blob })
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      name: 'KMSInternalException',
      message: `KMS sent no valid response (status ${status})`,
    })
    expect(isUnavailable(error)).toBe(true)
  })

  test('keeps the system code of a refused connection', async () => {
    const kms = open(`http://127.0.0.1:${await closedPort()}`)
    await expect(kms.describeKey({ KeyId: KEY })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  })

  test('rejects a response that lacks a part', async () => {
    const { kms } = await kmsThatAnswers(ok({ KeyId: KEY }))
    await expect(kms.decrypt({ KeyId: KEY, CiphertextBlob: blob })).rejects.toThrow(
      'The response of KMS lacks KeyId or Plaintext. Check the endpoint.',
    )
  })
})
