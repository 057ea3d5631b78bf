import { once } from 'node:events'
import { request } from 'node:http'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type DynamoServer, serve } from '../../src/wire/server.ts'
import { freshEngine, movableClock } from '../support/engine.ts'

const credentials = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret of the test' }
const MINUTE = 60

async function freshServer() {
  const engine = await freshEngine()
  // Signatures are made by the SDK, whose clock is that of this machine.
  const clock = movableClock(Date.now())
  const server = await serve(engine, { credentials: [credentials], clock })
  onTestFinished(() => server.close())
  return { server, clock }
}

interface Raw {
  headers: Record<string, string>
  body: string
}

/** A request as the SDK signs it, not sent yet. */
async function signed(server: DynamoServer, given: object = {}): Promise<Raw> {
  let captured: Raw | undefined
  const client = new DynamoDBClient({
    endpoint: server.url,
    region: 'local',
    credentials: { ...credentials, ...given },
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      async handle({ headers, body }: { headers: Raw['headers']; body: Uint8Array }) {
        captured = { headers, body: new TextDecoder().decode(body) }
        return { response: { statusCode: 200, headers: {}, body: Buffer.from('{}') } }
      },
    } as never,
  })
  await client.send(new ListTablesCommand({ Limit: 1 }))
  if (!captured) throw new Error('The SDK sent nothing')
  return captured
}

async function send(server: DynamoServer, { headers, body }: Raw) {
  const outgoing = request({ host: server.host, port: server.port, method: 'POST', headers })
  outgoing.end(body)
  const [response] = await once(outgoing, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const answer = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown>
  return { status: response.statusCode as number, answer }
}

type Change = (raw: Raw) => Raw
const without =
  (name: string): Change =>
  ({ headers, body }) => ({
    headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)),
    body,
  })
const authorization =
  (change: (value: string) => string): Change =>
  ({ headers, body }) => ({
    headers: { ...headers, authorization: change(headers['authorization'] ?? '') },
    body,
  })

describe('with credentials, the wire face', () => {
  test('accepts requests of an SDK with these credentials', async () => {
    const { server } = await freshServer()
    const client = new DynamoDBClient({ endpoint: server.url, region: 'anywhere', credentials })
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([])
    client.destroy()
    expect(await send(server, await signed(server))).toMatchObject({ status: 200 })
  })

  const refusals: [what: string, name: string, change: Change, given?: object][] = [
    ['not signed', 'MissingAuthenticationTokenException', without('authorization')],
    [
      'signed in another way',
      'IncompleteSignatureException',
      authorization(() => 'Bearer something'),
    ],
    [
      'signed by somebody unknown',
      'UnrecognizedClientException',
      (raw) => raw,
      { accessKeyId: 'AKIDOTHER' },
    ],
    [
      'signed with another secret',
      'InvalidSignatureException',
      (raw) => raw,
      { secretAccessKey: 'a guess' },
    ],
    [
      'signed for another service',
      'InvalidSignatureException',
      authorization((value) => value.replace('/dynamodb/', '/kms/')),
    ],
    [
      'signed for another region',
      'InvalidSignatureException',
      authorization((value) => value.replace('/local/', '/elsewhere/')),
    ],
    [
      'signed for another day',
      'InvalidSignatureException',
      authorization((value) => value.replace(/\/\d{8}\//, '/20200101/')),
    ],
    [
      'signed for another body',
      'InvalidSignatureException',
      (raw) => ({ headers: { ...raw.headers, 'content-length': '2' }, body: '{}' }),
    ],
    [
      'signed for another operation',
      'InvalidSignatureException',
      ({ headers, body }) => ({
        headers: { ...headers, 'x-amz-target': 'DynamoDB_20120810.DescribeLimits' },
        body,
      }),
    ],
    [
      'signed without its operation',
      'InvalidSignatureException',
      authorization((value) => value.replace(';x-amz-target', '')),
    ],
    ['signed at no time', 'InvalidSignatureException', without('x-amz-date')],
  ]
  for (const [what, name, change, given] of refusals) {
    test(`refuses a request that is ${what}`, async () => {
      const { server } = await freshServer()
      const { status, answer } = await send(server, change(await signed(server, given)))
      expect(status).toBe(400)
      expect(answer['__type']).toBe(`com.amazon.coral.service#${name}`)
      expect(JSON.stringify(answer)).not.toContain(credentials.secretAccessKey)
    })
  }

  test('takes a request for five minutes', async () => {
    const { server, clock } = await freshServer()
    const raw = await signed(server)
    clock.advanceSeconds(4 * MINUTE)
    expect(await send(server, raw)).toMatchObject({ status: 200 })
    clock.advanceSeconds(2 * MINUTE)
    expect(await send(server, raw)).toMatchObject({ status: 400 })
  })

  test('listens on any address, and to any name of it', async () => {
    const engine = await freshEngine()
    const server = await serve(engine, { host: '0.0.0.0', credentials: [credentials] })
    onTestFinished(() => server.close())
    const client = new DynamoDBClient({
      endpoint: `http://127.0.0.1:${server.port}`,
      region: 'local',
      credentials,
    })
    client.middlewareStack.add(
      (next) => (args) => {
        const { headers } = args.request as Raw
        headers['host'] = 'db.example.com'
        return next(args)
      },
      { step: 'build' },
    )
    expect((await client.send(new ListTablesCommand({}))).TableNames).toEqual([])
    client.destroy()
  })

  test('is not served with credentials that anybody could have', async () => {
    const engine = await freshEngine()
    for (const given of [
      [],
      [{ ...credentials, secretAccessKey: '' }],
      [credentials, credentials],
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await expect(serve(engine, { credentials: given })).rejects.toThrow('Credentials must')
    }
  })
})
