import { serviceStores } from '@strongroom/kit/testing/stores'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { answer, openSink, type Sink } from '../support/test-destination.ts'
import { eventInput, required } from '../support/test-stores.ts'
import { openApi, type Person } from '../support/test-api.ts'

describe.each(serviceStores())('dry runs and destination tests on $name', (store) => {
  const api = openApi(store, {
    FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    FERRYHOOK_ALLOW_HTTP: 'true',
  })
  let ada: Person
  let sourceId: string
  let sink: Sink

  beforeAll(async () => {
    sink = await openSink(api.clock)
    ada = await api.person()
    await api.stores.users.update(ada.id, { plan: 'starter' })
    sourceId = await api.source(ada)
  })
  afterAll(() => sink.close())

  const dryRun = (body: object, { source = sourceId, as = ada } = {}) =>
    api.ask('POST', `/sources/${source}/dry-run`, { token: as.token, body })
  const tested = async (path: string, given: object = {}) => {
    const made = await api.connection(ada, sourceId, { destinationUrl: sink.url(path), ...given })
    const { id, signingSecret } = made.body
    const result = await api.ask('POST', `/connections/${id}/test`, { token: ada.token })
    return { id, signingSecret, result }
  }

  const sample = { body: '{"type":"invoice.paid","amount":42}', headers: { 'X-Shop': '7' } }
  const paid = [{ path: '$.type', operator: 'equals', value: 'invoice.paid' }]

  test('a dry run shows what a filter and a transform do to a sample', async () => {
    const transform = { type: 'field_map', rules: [{ from: '$.amount', to: 'total' }] }
    const { body } = await dryRun({ filters: paid, transform, sample })
    expect(body).toEqual({
      outcome: 'delivered',
      matched: true,
      body: '{"total":42}',
      encoding: 'utf-8',
      contentType: 'application/json',
      console: [],
    })
    const other = await dryRun({ filters: paid, sample: { body: '{"type":"other"}' } })
    expect(other.body).toMatchObject({ outcome: 'filtered', matched: false, console: [] })
    expect(other.body.reason).not.toBe('')
    const byHeader = [{ path: '$headers.x-shop', operator: 'equals', value: '8' }]
    expect((await dryRun({ filters: byHeader, sample })).body.outcome).toBe('filtered')
  })

  test('large dry runs in parallel take turns, and each gets its own result', async () => {
    const rules = Array.from({ length: 100 }, (_, index) => ({ from: '$[*]', to: `a${index}` }))
    const transform = { type: 'field_map', rules }
    const runs = [100, 65_000, 131_000].map((count) =>
      dryRun({ transform, sample: { body: `[${'1,'.repeat(count)}1]` } }),
    )
    const results = await Promise.all(runs)
    expect(results.map(({ status, body }) => [status, body.outcome, body.error?.code])).toEqual([
      [200, 'delivered', undefined],
      [200, 'failed', 'time_limit'],
      [200, 'failed', 'time_limit'],
    ])
  })

  test('a dry run shows the result, console output, drop or failure of a script', async () => {
    const script = (code: string) =>
      dryRun({ transform: { type: 'javascript', code }, sample }).then(({ body }) => body)
    const made = await script(
      'function transform(e) { console.log(e.method); return { body: { n: 1 }, headers: { "X-N": 1 } } }',
    )
    expect(made).toMatchObject({
      outcome: 'delivered',
      body: '{"n":1}',
      headers: { 'x-n': '1' },
      console: ['POST'],
    })
    expect(await script('function transform() { return null }')).toMatchObject({
      outcome: 'dropped',
    })
    expect(await script('function transform() { throw new Error("no") }')).toMatchObject({
      outcome: 'failed',
      error: { code: 'threw' },
    })
    expect(await script('function transform() { for (;;); }')).toMatchObject({
      outcome: 'failed',
      error: { code: 'time_limit' },
    })
  })

  test('a dry run uses the bytes of a received event', async () => {
    const bytes = Buffer.from([0xff, 0x00, 0x01])
    const event = await api.stores.events.create(
      eventInput({ sourceId, userId: ada.id, body: bytes, contentType: 'image/png' }),
    )
    const { body } = await dryRun({ eventId: event.eventId })
    expect(body).toMatchObject({
      outcome: 'delivered',
      body: bytes.toString('base64'),
      encoding: 'base64',
      contentType: 'image/png',
    })
  })

  test('an unknown event, or one of another source, cannot be used', async () => {
    const other = await api.source(ada)
    const event = await api.stores.events.create(eventInput({ sourceId: other, userId: ada.id }))
    for (const eventId of [event.eventId, 'evt_0000000000000000', 'nonsense']) {
      const { status, body } = await dryRun({ eventId })
      expect(status).toBe(404)
      expect(body.error.code).toBe('ferryhook.event_not_found')
    }
    const stranger = await api.person()
    const foreign = await dryRun({ eventId: event.eventId }, { source: other, as: stranger })
    expect(foreign.body.error.code).toBe('ferryhook.source_not_found')
  })

  test('a dry run requires either an event or a sample', async () => {
    for (const given of [{}, { sample, eventId: 'evt_0000000000000000' }]) {
      const { body } = await dryRun(given)
      expect(body.error.details).toEqual([
        { path: 'body.eventId', message: 'Set either eventId or sample' },
      ])
    }
  })

  const dryRuns = (body: object, source = sourceId) =>
    api.ask('POST', `/sources/${source}/dry-runs`, { token: ada.token, body })

  test('a dry run of many events says for each what would happen, newest first', async () => {
    const source = await api.source(ada)
    const receive = async (body: string) => {
      api.clock.advance({ seconds: 1 })
      const input = { sourceId: source, userId: ada.id, receivedAt: api.clock.now() }
      return api.stores.events.create(eventInput({ ...input, body: Buffer.from(body) }))
    }
    const bodies = ['{"type":"a","n":1}', '{"type":"b"}', '{"type":"a"}', '{"type":"a","n":0}']
    const ids: string[] = []
    for (const body of bodies) ids.push((await receive(body)).eventId)
    const code =
      'function transform(e) { const b = e.body; if (b.n === 0) return null; return { body: { n: b.n.toFixed() } } }'
    const filters = [{ path: '$.type', operator: 'equals', value: 'a' }]
    const given = { filters, transform: { type: 'javascript', code } }
    const { body } = await dryRuns({ ...given, last: 100 }, source)
    expect(body.items.map((each: { eventId: string }) => each.eventId)).toEqual(ids.toReversed())
    expect(body.items.map((each: { outcome: string }) => each.outcome)).toEqual([
      'dropped',
      'failed',
      'filtered',
      'delivered',
    ])
    expect(body.items[1].error.code).toBe('threw')
    expect(body).toMatchObject({
      summary: { delivered: 1, filtered: 1, dropped: 1, failed: 1, not_found: 0 },
      isComplete: true,
    })
    const some = await dryRuns({ ...given, eventIds: [ids[1], 'evt_0000000000000000'] }, source)
    expect(some.body.items).toMatchObject([
      { eventId: ids[1], outcome: 'filtered', reason: expect.any(String) },
      { eventId: 'evt_0000000000000000', outcome: 'not_found', receivedAt: null },
    ])
  })

  test('a dry run of many events takes at most a hundred, of its own source', async () => {
    const other = await api.source(ada)
    const event = await api.stores.events.create(eventInput({ sourceId: other, userId: ada.id }))
    const foreign = await dryRuns({ eventIds: [event.eventId] })
    expect(foreign.body.summary).toMatchObject({ not_found: 1 })
    const tooMany = { eventIds: Array.from({ length: 101 }, () => event.eventId) }
    for (const given of [{}, { last: 101 }, { last: 0 }, tooMany, { last: 1, eventIds: ['a'] }]) {
      const { status, body } = await dryRuns(given)
      expect([status, body.error.code]).toEqual([400, 'request.invalid'])
    }
  })

  test('a destination is sent one signed event, with the headers of its connection', async () => {
    sink.behave('/ok', answer(202, {}, 'thanks'))
    const headers = { Authorization: 'Bearer it' }
    const { id, signingSecret, result } = await tested('/ok', { headers })
    expect(result.body).toEqual({
      ok: true,
      reason: 'delivered',
      statusCode: 202,
      latencyMs: 0,
      responseBody: 'thanks',
    })
    const received = required(sink.received('/ok')[0])
    expect(received.headers).toMatchObject({
      authorization: 'Bearer it',
      'content-type': 'application/json',
      'user-agent': 'Ferryhook/1.0',
    })
    const payload = JSON.parse(received.body.toString())
    expect(payload).toMatchObject({ type: 'ferryhook.test', id: received.headers['webhook-id'] })
    // Not with its `verify`, which uses the system clock.
    const signed = new Webhook(signingSecret).sign(
      payload.id,
      new Date(Number(received.headers['webhook-timestamp']) * 1000),
      received.body.toString(),
    )
    expect(received.headers['webhook-signature']).toBe(signed)
    const { body: log } = await api.ask('GET', '/audit?limit=1', { token: ada.token })
    expect(log.items).toMatchObject([{ action: 'connection.tested', target: id }])
  })

  test('a failing destination is a result, not an error', async () => {
    sink.behave('/broken', answer(500, {}, 'boom'))
    const { result } = await tested('/broken')
    expect(result.status).toBe(200)
    expect(result.body).toMatchObject({
      ok: false,
      reason: 'http_error',
      statusCode: 500,
      responseBody: 'boom',
    })
    const closed = await openSink(api.clock)
    const destinationUrl = closed.url('/')
    await closed.close()
    const nobody = await tested('', { destinationUrl })
    expect(nobody.result.body).toMatchObject({ ok: false, reason: 'connection', statusCode: 0 })
    expect(nobody.result.body.error).toMatch(/^Connection failed/)
  })
})
