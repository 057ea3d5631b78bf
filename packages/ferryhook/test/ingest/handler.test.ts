import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as nodeRequest } from 'node:http'
import { connect } from 'node:net'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCredentialRule } from '../../src/events/credential-headers.ts'
import { type IngestBench, openIngestBench, type Sent } from '../support/test-ingest.ts'
import { required } from '../support/test-stores.ts'

describe.each(serviceStores())('a webhook received on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  test('gets its id as the response when the event and its route task are stored', async () => {
    const source = await bench.source()
    const create = vi.spyOn(bench.stores.events, 'create')
    const { status, body } = await bench.send(source.sourceId, { body: '{"a":1}' })
    expect(create).toHaveBeenCalledOnce()
    expect([status, body]).toEqual([
      200,
      { id: expect.stringMatching(/^evt_[\w-]{16}$/) as string, status: 'received' },
    ])
    const [event] = await bench.eventsOf(source)
    expect(event).toMatchObject({ eventId: body.id, status: 'received', userId: source.userId })
    expect(await bench.stores.events.getById(String(body.id))).toEqual(event)
    expect(await bench.toBeRouted()).toContain(body.id)
    expect(bench.hinted.at(-1)).toBe(source.sourceId)
  })

  test('is stored with its method, query, headers, address and time', async () => {
    const source = await bench.source()
    await bench.send(source.sourceId, {
      method: 'PUT',
      body: 'a=1',
      query: 'x=%20y&x=2&=',
      headers: {
        'Content-Type': 'application/x-www-form-urlencoded',
        'X-Shop-Topic': 'orders/paid "now"',
        Authorization: 'Basic c2VjcmV0',
        Cookie: 'session=secret',
        'x-forwarded-for': '203.0.113.9',
      },
    })
    const [event] = await bench.eventsOf(source)
    expect(String(await bench.bodyOf(required(event)))).toBe('a=1')
    expect(event).toMatchObject({
      method: 'PUT',
      query: 'x=%20y&x=2&=',
      contentType: 'application/x-www-form-urlencoded',
      sourceIp: '127.0.0.1',
      receivedAt: bench.clock.now(),
    })
    expect(JSON.parse(event?.headers ?? '')).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'x-shop-topic': 'orders/paid "now"',
      'x-forwarded-for': '203.0.113.9',
      authorization: '(not kept)',
      cookie: '(not kept)',
    })
  })

  /** Sends the headers of a webhook, and its body when the test says so. */
  async function startedRequest(sourceId: string) {
    const socket = connect(Number(new URL(bench.url).port), '127.0.0.1').setEncoding('utf8')
    onTestFinished(() => void socket.destroy())
    socket.write(`POST /in/${sourceId} HTTP/1.1\r\nhost: x\r\ncontent-length: 200000\r\n\r\n`)
    return { socket, response: async () => String(await once(socket, 'data')) }
  }

  test('to a source that does not exist is rejected before its body is read', async () => {
    for (const sourceId of [newId('src'), 'not-an-id']) {
      const { response } = await startedRequest(sourceId)
      expect(await response()).toMatch(/^HTTP\/1\.1 404 [^]*ferryhook\.source_not_found/)
    }
  })

  test('is rejected if its source is paused while its body arrives', async () => {
    const source = await bench.source()
    const { socket, response } = await startedRequest(source.sourceId)
    socket.write('x'.repeat(100_000))
    // The server has read the headers and looked up the source.
    expect((await bench.send(source.sourceId)).status).toBe(200)
    await bench.stores.sources.update(source.sourceId, source.userId, { status: 'paused' })
    bench.ingest.invalidateSource(source.sourceId)
    socket.write('x'.repeat(100_000))
    expect(await response()).toMatch(/^HTTP\/1\.1 404 [^]*ferryhook\.source_not_found/)
    expect(await bench.eventsOf(source)).toHaveLength(1)
  })

  test('is stored with every value of a repeated header', async () => {
    const source = await bench.source()
    const headers = [
      ['X-Tag', 'one'],
      ['x-tag', 'two'],
      ['X-TAG', 'three'],
      ['constructor', 'x'],
      ['__proto__', 'y'],
      ['content-length', '0'],
      ['host', 'a'],
    ].flat()
    await new Promise((resolve) => {
      const sending = nodeRequest(`${bench.url}/in/${source.sourceId}`, { method: 'POST', headers })
      sending.on('response', (answer) => resolve(answer.resume())).end()
    })
    const [event] = await bench.eventsOf(source)
    expect(JSON.parse(event?.headers ?? '')).toMatchObject({
      'x-tag': ['one', 'two', 'three'],
      constructor: 'x',
    })
  })

  test('is stored without headers that are credentials, and none of them is logged', async () => {
    const source = await bench.source({ provider: 'gitlab', secret: 'the-shared-token' })
    const others = ['X-Api-Key', 'X-Goog-Channel-Token', 'X-Telegram-Bot-Api-Secret-Token']
    const also = Object.fromEntries(others.map((name) => [name, 'the-other-token']))
    const send = (token: string) =>
      bench.send(source.sourceId, { headers: { ...also, 'X-Gitlab-Token': token } })
    expect((await send('the-shared-token')).status).toBe(200)
    expect((await send('the-shared-tokem')).status).toBe(401)
    const twice = ['x-gitlab-token', 'the-shared-token', 'X-GitLab-Token', 'the-shared-token']
    await new Promise((resolve) => {
      const headers = [...twice, 'content-length', '0', 'host', 'a']
      const sending = nodeRequest(`${bench.url}/in/${source.sourceId}`, { method: 'POST', headers })
      sending.on('response', (answer) => resolve(answer.resume())).end()
    })
    const events = await bench.eventsOf(source)
    expect(events.map(({ status }) => status)).toEqual(
      expect.arrayContaining(['received', 'signature_failed', 'signature_failed']),
    )
    for (const { headers } of events) {
      expect(JSON.parse(headers)).toMatchObject({ 'x-gitlab-token': '(not kept)' })
    }
    const { Items } = await bench.db.scan({ TableName: 'ferryhook-events' })
    const everything = JSON.stringify(Items) + bench.lines.join('')
    expect(everything).not.toMatch(/the-shared-toke|the-other-token/)
  })

  test('is stored without further credential headers of its source, and with those that are exempt', async () => {
    const receiver = await bench.another({
      isCredentialHeader: createCredentialRule(['x-routing-key']),
    })
    const source = await bench.source({ credentialHeaders: ['x-acme-auth', 'x-event-key'] })
    const sent = {
      'x-acme-auth': 'secret-of-acme',
      'x-event-key': 'secret-of-acme',
      'x-routing-key': 'orders',
      'x-other-key': 'secret-of-acme',
    }
    expect((await receiver.send(source.sourceId, { headers: sent })).status).toBe(200)
    const [event] = await bench.eventsOf(source)
    expect(JSON.parse(event?.headers ?? '')).toMatchObject({
      'x-acme-auth': '(not kept)',
      'x-event-key': '(not kept)',
      'x-routing-key': 'orders',
      'x-other-key': '(not kept)',
    })
    expect(JSON.stringify(event) + receiver.lines.join('')).not.toContain('secret-of-acme')
  })

  test('is recognised by an id in a header that is not stored', async () => {
    const dedup = JSON.stringify({ by: 'header', name: 'x-message-key' })
    const source = await bench.source({ dedup })
    const send = () => bench.send(source.sourceId, { headers: { 'x-message-key': 'm-1' } })
    const first = await send()
    expect((await send()).body).toEqual({ ...first.body, duplicate: true })
    const [event] = await bench.eventsOf(source)
    expect(JSON.parse(event?.headers ?? '')).toMatchObject({ 'x-message-key': '(not kept)' })
  })

  test('has the client address that trusted proxies report', async () => {
    const source = await bench.source()
    const proxied = await bench.another({ trustedProxies: { hops: 1 } })
    await proxied.send(source.sourceId, { headers: { 'x-forwarded-for': '10.0.0.1, 2001:DB8::9' } })
    expect(await bench.eventsOf(source)).toMatchObject([{ sourceIp: '2001:db8::9' }])
  })

  test.each([
    ['an empty body', Buffer.alloc(0)],
    ['one byte', Buffer.of(0)],
    ['text with a byte order mark', Buffer.from('\uFEFFGrüße')],
    ['bytes that are not text', Buffer.of(0xff, 0xfe, 0x0d, 0x0a, 0x80, 0x00)],
    ['half of a surrogate pair in UTF-8', Buffer.of(0x22, 0xed, 0xa0, 0x80, 0x22)],
    ['4,097 bytes of text', Buffer.alloc(4_097, 'é')],
    ['262,144 bytes of noise', randomBytes(262_144)],
    ['262,144 bytes of text', Buffer.alloc(262_144, 'webhook ')],
  ])('is stored byte for byte: %s', async (_what, body) => {
    const source = await bench.source()
    const { status } = await bench.send(source.sourceId, { body })
    expect(status).toBe(200)
    const [event] = await bench.eventsOf(source)
    expect(event?.bodyBytes).toBe(body.byteLength)
    expect(event && body.equals(await bench.bodyOf(event))).toBe(true)
  })

  test('is stored with any content type, and without one', async () => {
    const source = await bench.source()
    const types = [
      'application/xml',
      'multipart/form-data; boundary=x',
      'nonsense',
      'a/b;'.repeat(400),
    ]
    for (const type of types) {
      const { status } = await bench.send(source.sourceId, { headers: { 'content-type': type } })
      expect(status).toBe(200)
    }
    await bench.send(source.sourceId, { body: new Uint8Array([1]) })
    const events = await bench.eventsOf(source)
    expect(events.map(({ contentType }) => contentType)).toEqual(
      expect.arrayContaining(['application/xml', 'nonsense', undefined]),
    )
    expect(events).toHaveLength(5)
  })

  test('of more than 262,144 bytes is rejected and not stored', async () => {
    const source = await bench.source()
    const { status, body } = await bench.send(source.sourceId, { body: Buffer.alloc(262_145) })
    expect([status, body.error?.code]).toEqual([413, 'request.too_large'])
    const stream = new Blob([Buffer.alloc(262_145)]).stream()
    const init = { method: 'POST', body: stream, duplex: 'half' } as RequestInit
    expect((await fetch(`${bench.url}/in/${source.sourceId}`, init)).status).toBe(413)
    expect(await bench.eventsOf(source)).toEqual([])
  })

  test('with a query or headers beyond the limits is rejected and not stored', async () => {
    const source = await bench.source()
    const kept = await bench.send(source.sourceId, { query: 'x'.repeat(8_192) })
    expect(kept.status).toBe(200)
    const long = await bench.send(source.sourceId, { query: 'x'.repeat(8_193) })
    expect([long.status, long.body.error?.code]).toEqual([414, 'ferryhook.query_too_long'])
    const rawHeaders = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? `x-${at}` : 'y'))
    const { sourceId: parameter } = source
    const request = { method: 'POST', parameter, query: undefined, rawHeaders }
    const received = bench.ingest.receive({
      ...request,
      body: new Uint8Array(),
      clientAddress: undefined,
    })
    await expect(received).rejects.toMatchObject({ code: 'ferryhook.headers_too_large' })
    expect(await bench.eventsOf(source)).toHaveLength(1)
  })

  test('gets the same bytes for an unknown, malformed, paused or deleted source', async () => {
    const [paused, deleted] = [await bench.source(), await bench.source()]
    await bench.stores.sources.update(paused.sourceId, paused.userId, { status: 'paused' })
    await bench.stores.sources.delete(deleted.sourceId, deleted.userId)
    const ids = [
      paused.sourceId,
      deleted.sourceId,
      newId('src'),
      newId('evt'),
      'src_',
      'x'.repeat(200),
    ]
    for (const id of ids) {
      for (const method of ['POST', 'PUT', 'GET']) {
        const { status, body } = await bench.send(id, { method })
        expect([id, status, body]).toEqual([
          id,
          404,
          { error: { code: 'ferryhook.source_not_found', message: 'Source not found' } },
        ])
      }
    }
    expect(await bench.eventsOf(paused)).toEqual([])
  })

  test('sent by GET is not an event, but a handshake is answered', async () => {
    const source = await bench.source()
    const plain = await bench.send(source.sourceId, { method: 'GET' })
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST, PUT'])
    const hub = `hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${source.sourceId}`
    const { status, body } = await bench.send(source.sourceId, { method: 'GET', query: hub })
    expect([status, body]).toEqual([200, { text: '1158201444' }])
    expect(await bench.eventsOf(source)).toEqual([])
  })

  test.each(['PATCH', 'DELETE'] as const)(
    'is accepted by %s where the source allows it, with and without a body',
    async (method) => {
      const source = await bench.source({ methods: ['POST', method], secret: 'hush' })
      const signature = createHmac('sha256', 'hush').update('{"id":1}').digest('hex')
      const headers = { 'x-signature': signature }
      const { status } = await bench.send(source.sourceId, { method, body: '{"id":1}', headers })
      expect(status).toBe(200)
      const [event] = await bench.eventsOf(source)
      expect(event).toMatchObject({ method, status: 'received' })
      expect(String(await bench.bodyOf(required(event)))).toBe('{"id":1}')
      const unsigned = await bench.send(source.sourceId, { method })
      expect([unsigned.status, unsigned.body.error?.code]).toEqual([
        401,
        'ferryhook.signature_failed',
      ])
      const open = await bench.source({ methods: [method] })
      expect((await bench.send(open.sourceId, { method })).status).toBe(200)
      const [empty] = await bench.eventsOf(open)
      expect(empty).toMatchObject({ method, bodyBytes: 0 })
      expect(await bench.bodyOf(required(empty))).toHaveLength(0)
    },
  )

  test.each([
    [undefined, ['PATCH', 'DELETE'], 'POST, PUT'],
    [['DELETE' as const], ['POST', 'PUT', 'PATCH'], 'DELETE'],
  ])(
    'is refused by other methods than those of the source: %j',
    async (methods, refused, allow) => {
      const source = await bench.source(methods && { methods })
      // The first request reads the source, the later ones find it in the cache.
      for (const method of [...refused, 'OPTIONS', 'PROPFIND', 'GET', 'HEAD']) {
        const body = method === 'GET' || method === 'HEAD' ? undefined : '{"id":1}'
        const answer = await bench.send(source.sourceId, { method, ...(body && { body }) })
        expect([method, answer.status, answer.headers.get('allow')]).toEqual([method, 405, allow])
      }
      expect(await bench.eventsOf(source)).toEqual([])
    },
  )

  test('leaves no id, body, header or address in the log', async () => {
    const source = await bench.source({ provider: 'stripe', secret: 'whsec_one' })
    const open = await bench.source()
    const sent: Sent = {
      body: 'the b0dy',
      query: 'the=query',
      headers: { 'x-secret-thing': 'the value' },
    }
    await bench.send(open.sourceId, sent)
    await bench.send(source.sourceId, sent)
    await bench.send(newId('src'), sent)
    const failing = { ...bench.db, query: () => Promise.reject(new Error('No store')) }
    const broken = await bench.another({ on: failing })
    expect((await broken.send(open.sourceId, sent)).status).toBe(503)
    const lines = [...bench.lines, ...broken.lines].join('')
    expect(lines).toContain('"status":503')
    expect(lines).toContain('"route":"/in/:sourceId"')
    expect(lines).not.toMatch(/src_|evt_|usr_|b0dy|the=query|the value|127\.0\.0\.1|whsec/)
  })

  test('is counted by outcome, and never by source', async () => {
    const receiver = await bench.another()
    const source = await bench.source({ provider: 'github' })
    const headers = { 'x-github-delivery': 'one' }
    await receiver.send(source.sourceId, { headers })
    await receiver.send(source.sourceId, { headers })
    const text = await receiver.metrics.text()
    expect(text).toContain('strongroom_ferryhook_ingest_total{outcome="received"} 1')
    expect(text).toContain('strongroom_ferryhook_ingest_total{outcome="duplicate"} 1')
    expect(text).toContain(
      'service="ferryhook",route="/in/:sourceId",method="POST",status="200"} 2',
    )
    expect(await receiver.metrics.text()).toContain('ingest_total{outcome="received"} 1')
    expect(text).not.toContain('src_')
  })
})
