import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSandbox } from '../../src/sandbox/sandbox.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { createSealedSecrets } from '../../src/signing/sealed-secrets.ts'
import { createTestDestination } from '../../src/test-requests/destination.ts'
import { createWorker, type DeliveryWorker } from '../../src/worker/worker.ts'
import { type Owner, ownerOf } from '../support/people.ts'
import { openApi } from '../support/test-api.ts'

const noNetwork: SafeFetch = Object.assign(
  () => Promise.reject(new Error('The test destination uses no network')),
  { check: (url: string | URL) => new URL(url), close: async () => {} },
)

describe.each(serviceStores())('the request that an attempt sent, on $name', (store) => {
  const api = openApi(store)
  const sandbox = createSandbox()
  let timers: TestTimers
  let worker: DeliveryWorker

  beforeAll(async () => {
    timers = testTimers(api.clock)
    const sealedSecrets = createSealedSecrets(secretBox)
    worker = createWorker({
      stores: api.stores,
      clock: api.clock,
      startTimer: timers.start,
      fetcher: noNetwork,
      testDestination: createTestDestination({ stores: api.stores, sealedSecrets }),
      secretBox,
      sandbox,
      scheduler: createWorkScheduler(),
      log: silentLog,
      metrics: createMetrics(),
      workerConfig: { cacheMs: 0 },
    })
  })
  afterAll(async () => {
    await timers.until(worker.close())
    await sandbox.close()
  })

  const headers = {
    'content-type': 'application/json',
    'x-shop': 'Berlin',
    'x-many': ['1', '2'],
    'webhook-id': 'theirs',
    'x-api-key': '(not kept)',
  }

  async function deliver(owner: Owner, given: object = {}, body = '{"a":1}') {
    const to = { destinationUrl: 'test:200', ...given }
    const { body: connection } = await api.connection(owner.person, owner.sourceId, to)
    const { eventId } = await owner.receive({
      headers: JSON.stringify(headers),
      body: Buffer.from(body),
    })
    await worker.runOnce()
    const connectionId: string = connection.id
    const attempts = async () => (await owner.ask('GET', `/events/${eventId}`)).body.attempts
    const sentBody = (query = '') =>
      owner.ask('GET', `/events/${eventId}/deliveries/${connectionId}/attempts/1/body${query}`)
    return { eventId, connectionId, connection, attempts, sentBody }
  }

  test('is shown with the headers that the destination received, and the body of the event', async () => {
    const owner = await ownerOf(api)
    const { connectionId, eventId, attempts, sentBody } = await deliver(owner)
    const [attempt] = await attempts()
    const path = `/connections/${connectionId}/test-requests/1`
    const received = (await owner.ask('GET', path)).body.headers
    const added = ['user-agent', 'accept-encoding', 'content-length']
    const expected = Object.entries(received).filter(([name]) => !added.includes(name))
    expect(attempt.requestHeaders).toEqual(Object.fromEntries(expected))
    expect(attempt.requestHeaders).toMatchObject({
      'x-shop': 'Berlin',
      'x-many': ['1', '2'],
      'x-original-webhook-id': 'theirs',
      'webhook-id': eventId,
    })
    expect(attempt.requestHeaders).not.toHaveProperty('x-api-key')
    expect(attempt.requestBody).toBe('received')
    const { status, body } = await sentBody()
    expect(status).toBe(200)
    expect(body).toEqual({ origin: 'received', reason: null, body: '{"a":1}', encoding: 'utf-8' })
  })

  test('has a placeholder for the headers of the connection, whose values are stored nowhere', async () => {
    const owner = await ownerOf(api)
    const { eventId, connection, attempts } = await deliver(owner, {
      headers: { authorization: 'Bearer hush-hush', 'X-Tenant': 'hush-tenant' },
    })
    const [attempt] = await attempts()
    expect(attempt.requestHeaders).toMatchObject({
      authorization: '(not kept)',
      'x-tenant': '(not kept)',
    })
    const stored = JSON.stringify(await api.stores.attempts.listByEvent(eventId))
    expect(stored).not.toContain('hush')
    expect(stored).not.toContain(String(connection.signingSecret).slice('whsec_'.length))
    // A header that has the value of the event's own is stored once.
    expect(stored).not.toContain('Berlin')
  })

  test('after a transform has the derived body, as long as that is exactly what was sent', async () => {
    const owner = await ownerOf(api)
    const code = (word: string) => ({
      type: 'javascript',
      code: `function transform({ body }) { return { ${word}: body.a } }`,
    })
    const { connectionId, attempts, sentBody } = await deliver(owner, { transform: code('first') })
    expect(await attempts()).toMatchObject([{ requestBody: 'transformed' }])
    const sent = { origin: 'transformed', reason: null, body: '{"first":1}', encoding: 'utf-8' }
    expect((await sentBody()).body).toEqual(sent)
    const change = (transform: object | null) =>
      owner.ask('PATCH', `/connections/${connectionId}`, { body: { transform } })
    const unknown = {
      origin: 'unknown',
      reason: 'transform_changed',
      body: null,
      encoding: null,
    }
    expect((await change(code('second'))).status).toBe(200)
    expect((await sentBody()).body).toEqual(unknown)
    expect((await change(null)).status).toBe(200)
    expect((await sentBody()).body).toEqual(unknown)
    await change(code('first'))
    expect((await sentBody('?run=1')).body).toEqual(sent)
  })

  test('is unknown if the transform failed, so that nothing was sent', async () => {
    const owner = await ownerOf(api)
    const transform = { type: 'javascript', code: 'function transform() { throw new Error("no") }' }
    const { attempts, sentBody } = await deliver(owner, { transform })
    expect(await attempts()).toMatchObject([{ requestHeaders: null, requestBody: null }])
    expect((await sentBody()).body).toMatchObject({ origin: 'unknown', reason: 'not_recorded' })
  })

  test('is not found for another attempt, run, connection or user', async () => {
    const owner = await ownerOf(api)
    const stranger = await ownerOf(api)
    const { eventId, connectionId, sentBody } = await deliver(owner)
    expect((await sentBody('?run=2')).body.error.code).toBe('ferryhook.attempt_not_found')
    const path = (connection: string, number: number) =>
      `/events/${eventId}/deliveries/${connection}/attempts/${number}/body`
    const code = async (asking: Owner, at: string) => (await asking.ask('GET', at)).body.error.code
    expect(await code(owner, path(connectionId, 2))).toBe('ferryhook.attempt_not_found')
    expect(await code(owner, path('conn_A', 1))).toBe('ferryhook.attempt_not_found')
    expect(await code(stranger, path(connectionId, 1))).toBe('ferryhook.event_not_found')
    expect(await code(owner, path(connectionId, 9))).toBe('request.invalid')
  })
})
