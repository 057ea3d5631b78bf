import { randomBytes } from 'node:crypto'
import { newId } from '@strongroom/kit/ids'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { createTestDestination } from '../../src/test-requests/destination.ts'
import { createWorker, type DeliveryWorker } from '../../src/worker/worker.ts'
import { openApi, type Person } from '../support/test-api.ts'
import { required } from '../support/test-stores.ts'

/** Fails every request, so that a delivery that succeeds has used no network. */
const noNetwork: SafeFetch = Object.assign(
  () => Promise.reject(new Error('The test destination uses no network')),
  { check: (url: string | URL) => new URL(url), close: async () => {} },
)

describe.each(serviceStores())('the test destination on $name', (store) => {
  const api = openApi(store)
  let ada: Person
  let sourceId: string
  let timers: TestTimers
  let worker: DeliveryWorker

  beforeAll(async () => {
    ada = await api.person()
    sourceId = await api.source(ada, { methods: ['POST', 'PATCH'] })
    timers = testTimers(api.clock)
    worker = createWorker({
      stores: api.stores,
      clock: api.clock,
      startTimer: timers.start,
      fetcher: noNetwork,
      secretBox,
      sandbox: { run: () => Promise.reject(new Error('No scripts here')), close: async () => {} },
      scheduler: createWorkScheduler(),
      log: silentLog,
      metrics: createMetrics(),
      workerConfig: { cacheMs: 0 },
    })
  })
  afterAll(() => timers.until(worker.close()))

  const ask = (method: string, path: string, body?: unknown, token = ada.token) =>
    api.ask(method, path, { token, ...(body !== undefined && { body }) })

  async function connect(given: object = {}) {
    const source = await api.source(ada, { methods: ['POST', 'PATCH'] })
    const made = await api.connection(ada, source, { destinationUrl: 'test:200', ...given })
    expect([made.status, made.body]).toMatchObject([201, {}])
    return { source, id: made.body.id as string, signingSecret: made.body.signingSecret as string }
  }
  async function receive(source: string, body: string | Uint8Array, init: RequestInit = {}) {
    const answer = await api.app.request(`/in/${source}`, { method: 'POST', body, ...init })
    expect(answer.status).toBe(200)
    await worker.runOnce()
    return ((await answer.json()) as { id: string }).id
  }
  const requestsOf = async (id: string) =>
    (await ask('GET', `/connections/${id}/test-requests`)).body.items

  test('receives deliveries without a network and shows each request as it was delivered', async () => {
    const { source, id, signingSecret } = await connect({ destinationUrl: 'test:202' })
    const eventId = await receive(source, '{"n":  1}\n', {
      method: 'PATCH',
      headers: { 'content-type': 'application/json; charset=utf-8', 'x-shop': 'Köln' },
    })
    const event = await ask('GET', `/events/${eventId}`)
    expect(event.body).toMatchObject({
      status: 'delivered',
      attempts: [
        {
          destinationUrl: 'test:202',
          statusCode: 202,
          responseBody: 'Recorded as test request 1',
        },
      ],
    })
    const receivedAt = new Date(api.clock.now()).toISOString()
    const summary = {
      number: 1,
      eventId,
      attempt: 1,
      method: 'PATCH',
      statusCode: 202,
      bodyBytes: 10,
      receivedAt,
      expiresAt: new Date(Math.floor(api.clock.now() / 1000) * 1000 + 86_400_000).toISOString(),
    }
    expect(await requestsOf(id)).toEqual([summary])
    const { status, body } = await ask('GET', `/connections/${id}/test-requests/1`)
    expect(status).toBe(200)
    const { headers, ...rest } = body
    expect(rest).toEqual({ ...summary, body: '{"n":  1}\n', encoding: 'utf-8' })
    expect(headers).toMatchObject({
      'accept-encoding': 'identity',
      'content-length': '10',
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Ferryhook/1.0',
      'webhook-id': eventId,
      'x-ferryhook-attempt': '1',
      'x-ferryhook-event-id': eventId,
      'x-ferryhook-hops': '1',
    })
    const at = new Date(Number(headers['webhook-timestamp']) * 1000)
    const expected = new Webhook(signingSecret).sign(eventId, at, '{"n":  1}\n')
    expect(headers['webhook-signature']).toBe(expected)
  })

  test('records a body of any bytes up to the limit, and nothing of it in clear', async () => {
    const { source, id } = await connect({ headers: { 'x-key': 'the-credential' } })
    const bytes = Buffer.alloc(262_144, 0xfe)
    await receive(source, bytes)
    await receive(source, 'unmistakable')
    const large = await ask('GET', `/connections/${id}/test-requests/1`)
    expect(large.body).toMatchObject({ encoding: 'base64', bodyBytes: 262_144 })
    expect(Buffer.from(large.body.body, 'base64').equals(bytes)).toBe(true)
    expect(large.body.headers['x-key']).toBe('the-credential')
    const { Items = [] } = await api.db.query({
      TableName: 'ferryhook-events',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': `TEST#${id}` },
    })
    expect(Items).toHaveLength(5)
    for (const item of Items) {
      const content = item['content'] instanceof Uint8Array ? item['content'] : new Uint8Array()
      const stored = JSON.stringify(item) + Buffer.from(content).toString('latin1')
      expect(stored).not.toMatch(/unmistakable|the-credential|whsec_/)
    }
  })

  test('records what does not compress, and answers 431 to headers that would not fit', async () => {
    const { source, id } = await connect()
    const connection = required(await api.stores.connections.get(id, source))
    const sealedSecrets = createSealedSecrets(secretBox)
    const testDestination = createTestDestination({ stores: api.stores, sealedSecrets })
    const send = required(testDestination(connection, { eventId: newId('evt') }))
    const body = randomBytes(262_144)
    const large = (headers: number) =>
      Object.fromEntries(
        Array.from({ length: headers }, (_, index) => [
          `x-${index}`,
          randomBytes(3_000).toString('base64'),
        ]),
      )
    const fits = large(32)
    expect(await send('test:200', { headers: fits, body })).toMatchObject({ status: 200 })
    const shown = (await ask('GET', `/connections/${id}/test-requests/1`)).body
    expect(shown.headers).toMatchObject(fits)
    expect(Buffer.from(shown.body, 'base64').equals(body)).toBe(true)
    const refused = await send('test:200', { headers: large(50), body })
    expect([refused.status, Buffer.from(refused.body).toString()]).toEqual([
      431,
      'Not recorded: the headers have more than 131072 bytes',
    ])
    expect(await requestsOf(id)).toHaveLength(1)
  })

  test('fails with the chosen status, and failures are retried and end like any other', async () => {
    const { source, id } = await connect({ destinationUrl: 'test:503', retryConfig: [0, 60] })
    const eventId = await receive(source, '{}')
    expect((await ask('GET', `/events/${eventId}`)).body).toMatchObject({
      status: 'retrying',
      deliveries: [{ reason: 'http_503' }],
    })
    await timers.pass({ ms: 90_000 })
    await worker.runOnce()
    expect((await ask('GET', `/events/${eventId}`)).body).toMatchObject({
      status: 'failed',
      deliveries: [{ reason: 'exhausted' }],
    })
    const attempts = (await requestsOf(id)).map(({ attempt }: { attempt: number }) => attempt)
    expect(attempts).toEqual([2, 1])
    expect((await ask('PATCH', `/connections/${id}`, { destinationUrl: 'test:410' })).status).toBe(
      200,
    )
    await receive(source, '{}')
    expect((await ask('GET', `/connections/${id}`)).body).toMatchObject({
      status: 'paused',
      statusReason: 'gone',
    })
  })

  test('takes the test event of a connection, too', async () => {
    const { id } = await connect({ destinationUrl: 'test:418' })
    const tested = await ask('POST', `/connections/${id}/test`)
    expect(tested.body).toMatchObject({ ok: false, reason: 'http_error', statusCode: 418 })
    expect(await requestsOf(id)).toMatchObject([{ number: 1, attempt: null, statusCode: 418 }])
    const { body } = await ask('GET', `/connections/${id}/test-requests/1`)
    expect(JSON.parse(body.body)).toMatchObject({ type: 'ferryhook.test' })
  })

  test('exists only as test: and a status from 200 to 599, and not for alerts', async () => {
    for (const destinationUrl of [
      'test:',
      'test:199',
      'test:600',
      'test:20',
      'test:2000',
      'test:ok',
      'TEST:200',
      'test://200',
      'test:200/x',
      'test:200?x',
    ]) {
      const refused = await api.connection(ada, sourceId, { destinationUrl })
      expect([destinationUrl, refused.status, refused.body.error]).toMatchObject([
        destinationUrl,
        400,
        {
          code: 'ferryhook.invalid_destination',
          details: [
            {
              path: 'body.destinationUrl',
              message:
                'The test destination is test: and a status from 200 to 599, such as test:200',
            },
          ],
        },
      ])
    }
    const alert = await ask('PUT', '/alerts', { webhookUrl: 'test:200', kinds: [] })
    expect(alert.body.error.code).toBe('ferryhook.invalid_destination')
  })

  test('shows a request to the owner only, and headers of the connection to an admin only', async () => {
    const { source, id } = await connect({ headers: { 'x-key': 'the-credential' } })
    const { source: plainSource, id: plain } = await connect()
    await receive(source, '{}')
    await receive(plainSource, '{}')
    const reader = await api.key(ada, 'read')
    const one = (of: string, token: string) =>
      ask('GET', `/connections/${of}/test-requests/1`, undefined, token)
    const list = (of: string, token: string) =>
      ask('GET', `/connections/${of}/test-requests`, undefined, token)
    expect((await list(id, reader)).status).toBe(200)
    expect((await one(plain, reader)).status).toBe(200)
    const denied = await one(id, reader)
    expect([denied.status, denied.body.error.data]).toEqual([403, { permission: 'admin' }])
    expect((await one(id, await api.key(ada, 'admin'))).body.headers['x-key']).toBe(
      'the-credential',
    )
    const eve = await api.person()
    for (const answer of [await list(id, eve.token), await one(id, eve.token)]) {
      expect(answer.body.error.code).toBe('ferryhook.connection_not_found')
    }
    for (const number of ['2', '999999']) {
      const missing = await ask('GET', `/connections/${id}/test-requests/${number}`)
      expect([missing.status, missing.body.error]).toEqual([
        404,
        { code: 'ferryhook.test_request_not_found', message: 'Test request not found' },
      ])
    }
    for (const number of ['0', '-1', 'x', '1.5', '1e99']) {
      const wrong = await ask('GET', `/connections/${id}/test-requests/${number}`)
      expect([number, wrong.status]).toEqual([number, 400])
    }
  })

  test('gets stored headers of another destination only from an admin', async () => {
    const made = await api.connection(ada, sourceId, { headers: { 'x-key': 'the-credential' } })
    const change = (token: string) =>
      ask('PATCH', `/connections/${made.body.id}`, { destinationUrl: 'test:200' }, token)
    expect((await change(await api.key(ada, 'write'))).status).toBe(403)
    expect((await change(await api.key(ada, 'admin'))).status).toBe(200)
  })
})
