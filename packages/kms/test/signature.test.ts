import { expect, test } from 'vitest'
import { type RawRequest, credentials, freshServer, send, signed } from './support/serve.ts'

const LIST = 'TrentService.ListKeys'
const NOW = Date.parse('2100-01-01T00:00:00Z')
const at = (ms: number) => ({ date: new Date(NOW + ms) })

type Signed = Awaited<ReturnType<typeof signed>>

/** A request that is right but for what is given here. */
function altered(change: (request: Signed) => Partial<RawRequest>) {
  return async (server: Parameters<typeof signed>[0]) => {
    const right = await signed(server, LIST, '{}')
    return { ...right, ...change(right) }
  }
}

const withHeaders = (change: (headers: Record<string, string>) => Record<string, string>) =>
  altered(({ headers }) => ({ headers: { ...headers, ...change(headers) } }))

const authorization = (change: (value: string) => string) =>
  withHeaders((headers) => ({ authorization: change(headers['authorization'] ?? '') }))

const without = (name: string) =>
  altered(({ headers }) => ({
    headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)),
  }))

const wrong = 'InvalidSignatureException'

test('a signed request succeeds', async () => {
  const { server, arn, id } = await freshServer()
  expect(await send(server, await signed(server, LIST, '{}'))).toMatchObject({
    status: 200,
    body: { Keys: [{ KeyId: id, KeyArn: arn }], Truncated: false },
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amzn-requestid': expect.stringMatching(/^[\w-]{36}$/),
    },
  })
})

test.each<[string, (server: Parameters<typeof signed>[0]) => Promise<RawRequest>, string]>([
  ['is not signed', without('authorization'), 'MissingAuthenticationTokenException'],
  [
    'has an Authorization of another kind',
    withHeaders(() => ({ authorization: 'Bearer x' })),
    'IncompleteSignatureException',
  ],
  [
    'has half of an Authorization',
    authorization((value) => value.slice(0, -1)),
    'IncompleteSignatureException',
  ],
  [
    'is of an unknown access key',
    (server) => signed(server, LIST, '{}', { accessKeyId: 'AKIDOTHER' }),
    'UnrecognizedClientException',
  ],
  [
    'claims another access key than it was signed with',
    authorization((value) => value.replace('AKIDTEST', 'AKIDOTHER')),
    'UnrecognizedClientException',
  ],
  [
    'is signed with another secret',
    (server) => signed(server, LIST, '{}', { secretAccessKey: 'guess' }),
    wrong,
  ],
  [
    'has a signature of zeros',
    authorization((value) => value.replace(/[0-9a-f]{64}$/, '0'.repeat(64))),
    wrong,
  ],
  ['is for another service', (server) => signed(server, LIST, '{}', { service: 'sts' }), wrong],
  [
    'claims another region than it was signed for',
    authorization((value) => value.replace('/local/', '/elsewhere/')),
    wrong,
  ],
  [
    'claims another day than it was signed on',
    authorization((value) => value.replace('/21000101/', '/21000102/')),
    wrong,
  ],
  ['has another body', altered(() => ({ body: '{ }' })), wrong],
  ['has no body any more', altered(() => ({ body: '' })), wrong],
  [
    'asks for another operation',
    withHeaders(() => ({ 'x-amz-target': 'TrentService.CreateKey' })),
    wrong,
  ],
  ['is for another host', withHeaders(() => ({ host: 'evil.example' })), wrong],
  ['lacks a signed header', without('content-type'), wrong],
  ['has another date', withHeaders(() => ({ 'x-amz-date': '21000101T000001Z' })), wrong],
  ['has no date', without('x-amz-date'), wrong],
  ['has a date that is none', withHeaders(() => ({ 'x-amz-date': '21001301T000000Z' })), wrong],
  [
    'does not sign its target',
    (server) => signed(server, LIST, '{}', { unsignable: ['x-amz-target'] }),
    wrong,
  ],
  [
    'does not sign its host',
    (server) => signed(server, LIST, '{}', { unsignable: ['host'] }),
    wrong,
  ],
  [
    'does not sign its date',
    (server) => signed(server, LIST, '{}', { unsignable: ['x-amz-date'] }),
    wrong,
  ],
  ['was sent more than 5 minutes ago', (server) => signed(server, LIST, '{}', at(-300_001)), wrong],
  [
    'will be sent in more than 5 minutes',
    (server) => signed(server, LIST, '{}', at(301_000)),
    wrong,
  ],
  [
    'does not sign its body',
    (server) =>
      signed(server, LIST, '{}', { headers: { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } }),
    wrong,
  ],
  [
    'declares the hash of another body',
    (server) => signed(server, LIST, '{}', { headers: { 'x-amz-content-sha256': '0'.repeat(64) } }),
    wrong,
  ],
])('a request that %s is refused', async (_title, make, name) => {
  const { server, events } = await freshServer()
  const before = events.length
  const answer = await send(server, await make(server))
  expect(answer).toMatchObject({ status: 403, body: { __type: name } })
  expect(JSON.stringify(answer.body)).not.toContain(credentials.secretAccessKey)
  expect(events).toHaveLength(before)
})

test('a request is good for 5 minutes, and not when it is replayed later', async () => {
  const { server, clock } = await freshServer()
  const request = await signed(server, LIST, '{}')
  clock.advance({ minutes: 5 })
  expect(await send(server, request)).toMatchObject({ status: 200 })
  clock.advance({ ms: 1 })
  expect(await send(server, request)).toMatchObject({ status: 403, body: { __type: wrong } })
})

test('a clock that is up to 5 minutes ahead is forgiven', async () => {
  const { server } = await freshServer()
  expect(await send(server, await signed(server, LIST, '{}', at(300_000)))).toMatchObject({
    status: 200,
  })
})

test('headers beyond those that are signed do no harm', async () => {
  const { server } = await freshServer()
  const request = await signed(server, LIST, '{}')
  const headers = { ...request.headers, 'user-agent': 'test', 'x-forwarded-for': '10.0.0.1' }
  expect(await send(server, { ...request, headers })).toMatchObject({ status: 200 })
})

test('headers are compared without the white space around them', async () => {
  const { server } = await freshServer()
  const request = await signed(server, LIST, '{}', { headers: { 'x-note': ' two   words ' } })
  expect(await send(server, request)).toMatchObject({ status: 200 })
})

test('a signed hash of the body is taken when it is right', async () => {
  const { server } = await freshServer()
  const empty = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a'
  const request = await signed(server, LIST, '{}', { headers: { 'x-amz-content-sha256': empty } })
  expect(request.headers['authorization']).toContain('x-amz-content-sha256')
  expect(await send(server, request)).toMatchObject({ status: 200 })
})
