import { createLog } from '@strongroom/kit/log'
import { testStores } from '@strongroom/kit/testing/stores'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/item.ts'
import type { CreateEventInput } from '../../src/events/event-insert.ts'
import { createCredentialRule } from '../../src/events/credential-headers.ts'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { newSecretList, newSigningSecret, rotateSecret } from '../../src/signing/secret-list.ts'
import { required } from '../support/test-stores.ts'
import { sealedSecrets, openWorkerBench, SECRET, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])

describe('the request to a destination', () => {
  let bench: WorkerBench
  const sandbox = createSandbox()
  let paths = 0

  beforeAll(async () => {
    bench = await openWorkerBench({ store }, { sandbox })
  })
  afterAll(async () => {
    await bench.close()
    await sandbox.close()
  })

  async function deliver(given: Partial<CreateEventInput> = {}, to: Partial<Connection> = {}) {
    const path = `/request-${++paths}`
    const source = await bench.newSource()
    const connection = await bench.connect(source, path, to)
    const event = await bench.receive(source, given)
    await bench.worker.runOnce()
    return { path, source, connection, event, received: bench.sink.received(path) }
  }

  const headers = (given: Record<string, string | string[]>) => JSON.stringify(given)

  test('is verified as a Standard Webhook by a receiver with the secret', async () => {
    const { event, received } = await deliver({ body: Buffer.from('{"amount":10.00}') })
    const [request] = received
    const now = Math.floor(bench.clock.now() / 1000)
    expect(request?.headers).toMatchObject({
      'webhook-id': event.eventId,
      'webhook-timestamp': String(now),
      'x-ferryhook-event-id': event.eventId,
      'x-ferryhook-timestamp': String(now),
      'x-ferryhook-attempt': '1',
      'user-agent': 'Ferryhook/1.0',
      'content-type': 'application/json',
    })
    expect(request?.headers['x-ferryhook-signature']).toMatch(
      new RegExp(`^t=${now},v1=[0-9a-f]{64}$`),
    )
    const body = required(request).body.toString()
    expect(request?.headers['webhook-signature']).toBe(
      new Webhook(SECRET).sign(event.eventId, new Date(now * 1000), body),
    )
  })

  test.each(['POST', 'PUT', 'PATCH', 'DELETE'])(
    'has the method that arrived, %s, with the body',
    async (method) => {
      const { received } = await deliver({ method, body: Buffer.from('{"id":1}') })
      expect(received).toMatchObject([{ method }])
      expect(received[0]?.body.toString()).toBe('{"id":1}')
    },
  )

  test('is signed again for a retry, with the same id and its own time and number', async () => {
    const { path, event } = await deliver({}, {})
    bench.sink.behave(path, (response) => void response.writeHead(500).end())
    await bench.stores.deliveries.replay(
      event.eventId,
      required((await bench.stores.deliveries.listByEvent(event.eventId))[0]).connectionId,
    )
    await bench.worker.runOnce()
    await bench.timers.pass({ ms: 60_000 })
    await bench.worker.runOnce()
    const [, first, second] = bench.sink.received(path)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.headers['x-ferryhook-attempt']).toBe('2')
    expect(Number(second?.headers['webhook-timestamp'])).toBe(
      Number(first?.headers['webhook-timestamp']) + 60,
    )
    expect(second?.headers['webhook-signature']).not.toBe(first?.headers['webhook-signature'])
  })

  test('has a signature for each active secret during a rotation', async () => {
    const { path, source, connection } = await deliver()
    const { connectionId, sourceId } = connection
    const now = bench.clock.now()
    const list = required(
      rotateSecret(newSecretList(SECRET, now), newSigningSecret(), { now, overlapSeconds: 3_600 }),
    )
    const signingSecret = await sealedSecrets.sealConnectionSecrets(connection, list)
    await bench.stores.connections.update(connectionId, { signingSecret }, { sourceId })
    await bench.receive(source)
    await bench.worker.runOnce()
    await bench.timers.pass({ ms: 3_600_000 })
    await bench.receive(source)
    await bench.worker.runOnce()
    const signatures = bench.sink
      .received(path)
      .map((request) => String(request.headers['webhook-signature']).split(' ').length)
    expect(signatures).toEqual([1, 2, 1])
  })

  test('contains the headers of the event, except hop-by-hop headers and credentials', async () => {
    const { received } = await deliver({
      headers: headers({
        'Stripe-Signature': 't=1,v1=abc',
        'X-Twice': ['one', 'two'],
        Host: 'hooks.example',
        Cookie: 'session=1',
        Authorization: 'Basic c2VjcmV0',
        'X-Gitlab-Token': 'the-shared-token',
        'X-Api-Key': 'the-key',
        'Content-Length': '999',
        Connection: 'keep-alive, X-Hop',
        'X-Hop': 'by hop',
        'Keep-Alive': 'timeout=5',
        'Transfer-Encoding': 'chunked',
        'Proxy-Authorization': 'Basic c2VjcmV0',
        TE: 'trailers',
        Upgrade: 'h2c',
        'Accept-Encoding': 'gzip',
        'Content-Encoding': 'identity',
        'User-Agent': 'Stripe/1.0',
        'webhook-id': 'msg_theirs',
        'Webhook-Signature': 'v1,theirs',
        'x-ferryhook-event-id': 'evt_forged',
        'x-broken': 'a\u0000b',
        'x-long': 'żółć',
      }),
    })
    const got = required(received[0]).headers
    expect(got).toMatchObject({
      'stripe-signature': 't=1,v1=abc',
      'x-twice': 'one, two',
      'content-encoding': 'identity',
      'x-original-user-agent': 'Stripe/1.0',
      'x-original-webhook-id': 'msg_theirs',
      'x-original-webhook-signature': 'v1,theirs',
      'x-original-x-ferryhook-event-id': 'evt_forged',
      'user-agent': 'Ferryhook/1.0',
      'accept-encoding': 'identity',
      host: `127.0.0.1:${bench.sink.port}`,
    })
    expect(got['webhook-id']).toMatch(/^evt_/)
    for (const name of [
      'cookie',
      'authorization',
      'x-gitlab-token',
      'x-api-key',
      'x-hop',
      'te',
      'upgrade',
      'proxy-authorization',
      'x-broken',
      'x-long',
    ]) {
      expect(got).not.toHaveProperty(name)
    }
    expect(Number(got['content-length'])).toBe(required(received[0]).body.length)
  })

  test('contains no header by which the destination would believe its own proxy', async () => {
    const { received } = await deliver({
      headers: headers({
        Forwarded: 'for=127.0.0.1',
        'X-Forwarded-For': '127.0.0.1',
        X_Forwarded_User: 'admin',
        'X-Original-URL': '/admin',
        'X-Original-Webhook-Id': 'forged',
        'X-Rewrite-URL': '/admin',
        'X-Real-IP': '127.0.0.1',
        'X-HTTP-Method-Override': 'DELETE',
        'Remote-User': 'admin',
        'Authorization-Info': 'admin',
        'X-GitHub-Event': 'push',
      }),
    })
    const got = required(received[0]).headers
    expect(got).toMatchObject({ 'x-github-event': 'push' })
    const own =
      /^(?:accept-encoding|connection|content-(?:length|type)|host|user-agent|webhook-|x-ferryhook-)/
    expect(Object.keys(got).filter((name) => !own.test(name))).toEqual(['x-github-event'])
  })

  test('contains such a header if the connection sets it', async () => {
    const path = `/request-${++paths}`
    const source = await bench.newSource()
    const connection = await bench.connect(source, path)
    const own = { 'x-forwarded-proto': 'https', authorization: 'Bearer own' }
    const customHeaders = await sealedSecrets.sealCustomHeaders(connection, own)
    const { connectionId, sourceId } = connection
    await bench.stores.connections.update(connectionId, { customHeaders }, { sourceId })
    await bench.receive(source, { headers: headers({ authorization: 'Bearer forged' }) })
    await bench.worker.runOnce()
    expect(required(bench.sink.received(path)[0]).headers).toMatchObject(own)
  })

  test('contains exempt headers, and none that the event does not keep', async () => {
    const path = `/exempt-${++paths}`
    const isCredentialHeader = createCredentialRule(['x-routing-key'])
    const worker = bench.anotherWorker({ isCredentialHeader })
    const source = await bench.newSource()
    await bench.connect(source, path)
    await bench.receive(source, {
      headers: headers({
        'x-routing-key': 'orders',
        'idempotency-key': 'k-1',
        'x-acme-auth': '(not kept)',
        'x-acme-key': 'stored by an earlier version',
      }),
    })
    await worker.runOnce()
    const got = required(bench.sink.received(path)[0]).headers
    expect(got).toMatchObject({ 'x-routing-key': 'orders', 'idempotency-key': 'k-1' })
    expect(got).not.toHaveProperty('x-acme-auth')
    expect(got).not.toHaveProperty('x-acme-key')
  })

  test.each([
    ['text that is not JSON', Buffer.from('a=1&b=%20x\r\n'), 'application/x-www-form-urlencoded'],
    [
      'bytes that are not text',
      Buffer.from([0, 255, 254, 13, 10, 128]),
      'application/octet-stream',
    ],
    ['a long body', Buffer.alloc(262_144, 'ab\n'), 'text/plain'],
    ['a byte order mark', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), 'application/json'],
    ['an empty body', Buffer.alloc(0), 'application/json'],
  ])('delivers %s byte by byte', async (_, body, contentType) => {
    const { received } = await deliver({
      body,
      contentType,
      headers: headers({ 'content-type': contentType }),
    })
    expect(received[0]?.body.equals(body)).toBe(true)
    expect(received[0]?.headers['content-type']).toBe(contentType)
  })

  test('stays a PUT if the event was a PUT', async () => {
    const { received } = await deliver({ method: 'PUT' })
    expect(received[0]?.method).toBe('PUT')
  })

  test('has the transformed body, which is signed, and no headers about the original bytes', async () => {
    const transform = JSON.stringify({
      type: 'field_map',
      rules: [{ from: '$.data.id', to: '$.order' }],
    })
    const { event, received } = await deliver(
      {
        body: Buffer.from('{"data":{"id":7}}'),
        headers: headers({ 'content-type': 'text/json', 'content-md5': 'old', 'x-kept': 'yes' }),
      },
      { transform },
    )
    const [request] = received
    expect(request?.body.toString()).toBe('{"order":7}')
    expect(request?.headers).toMatchObject({ 'content-type': 'application/json', 'x-kept': 'yes' })
    expect(request?.headers).not.toHaveProperty('content-md5')
    const at = new Date(Number(request?.headers['webhook-timestamp']) * 1000)
    expect(request?.headers['webhook-signature']).toBe(
      new Webhook(SECRET).sign(event.eventId, at, '{"order":7}'),
    )
  })

  const script = (code: string) => ({ transform: JSON.stringify({ type: 'javascript', code }) })

  test('has the body and headers that a script returns, and is filtered if it returns null', async () => {
    const made = await deliver(
      { body: Buffer.from('{"n":1}') },
      script(
        'function transform(event) { return { body: { n: event.body.n + 1 }, headers: { "x-made": "yes" } } }',
      ),
    )
    expect(made.received[0]?.body.toString()).toBe('{"n":2}')
    expect(made.received[0]?.headers['x-made']).toBe('yes')
    const dropped = await deliver({}, script('function transform() { return null }'))
    expect(dropped.received).toEqual([])
    expect(await bench.status(dropped.event)).toBe('filtered')
    expect(await bench.delivery(dropped.event, dropped.connection)).toMatchObject({
      state: 'filtered',
      reason: 'The transform returned null',
    })
  })

  test('is not sent if the script fails, which is a visible failure without retries', async () => {
    const { event, connection, received } = await deliver(
      {},
      script('function transform() { throw new Error("no such field") }'),
    )
    expect(received).toEqual([])
    expect(await bench.status(event)).toBe('failed')
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'transform' })
    expect(await bench.attempts(event, connection)).toMatchObject([
      { statusCode: 0, error: expect.stringContaining('no such field') },
    ])
  })

  test('contains the custom headers of the connection, including credentials', async () => {
    const { path, source, connection } = await deliver()
    const { connectionId, sourceId } = connection
    const customHeaders = await sealedSecrets.sealCustomHeaders(connection, {
      authorization: 'Bearer for-them',
      'x-tenant': 'blue',
    })
    await bench.stores.connections.update(connectionId, { customHeaders }, { sourceId })
    await bench.receive(source)
    await bench.worker.runOnce()
    expect(bench.sink.received(path)[1]?.headers).toMatchObject({
      authorization: 'Bearer for-them',
      'x-tenant': 'blue',
    })
  })

  test('is not sent with a line break in a header', async () => {
    const { path, source, connection } = await deliver()
    const { connectionId, sourceId } = connection
    const customHeaders = await sealedSecrets.sealCustomHeaders(connection, {
      'x-evil': 'a\r\nx-injected: b',
    })
    await bench.stores.connections.update(connectionId, { customHeaders }, { sourceId })
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(bench.sink.received(path)).toHaveLength(1)
    expect(await bench.status(event)).toBe('failed')
    const [attempt] = await bench.attempts(event, connection)
    expect(attempt).toMatchObject({ statusCode: 0, error: expect.stringContaining('x-evil') })
    expect(attempt?.error).not.toContain('injected')
  })

  test('is never unsigned: a secret that cannot be decrypted is a failure that is retried', async () => {
    const { path, source, connection } = await deliver()
    const { connectionId, sourceId } = connection
    const other = { ...connection, connectionId: 'conn_aaaaaaaaaaaaaaaa' }
    const signingSecret = await sealedSecrets.sealConnectionSecrets(
      other,
      newSecretList(SECRET, bench.clock.now()),
    )
    const customHeaders = await sealedSecrets.sealCustomHeaders(other, { 'x-a': 'b' })
    const sealed = { signingSecret, customHeaders }
    await bench.stores.connections.update(connectionId, sealed, { sourceId })
    const event = await bench.receive(source)
    const lines: string[] = []
    const log = createLog({ sink: (line) => void lines.push(line) })
    await bench.anotherWorker({ log }).runOnce()
    expect(bench.sink.received(path)).toHaveLength(1)
    expect(await bench.status(event)).toBe('retrying')
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'signing' })
    expect(lines).toEqual([expect.stringContaining('secrets of a connection not decrypted')])
    expect(lines.join('')).not.toContain('retrying')
    expect(lines.join('')).not.toContain(connectionId)
  })
})
