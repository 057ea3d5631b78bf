import type { Db } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { retryingDb } from '@strongroom/kit/retrying-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { few, type IngestBench, openIngestBench } from '../support/test-ingest.ts'

describe.each(serviceStores())('a webhook that cannot be stored, on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  /** The store, with replaced transactions. */
  const storeWith = (transactWriteItems: Db['transactWriteItems']): Db => ({
    ...bench.db,
    transactWriteItems,
  })
  const failure = (name: string) => Object.assign(new Error('Not now'), { name })

  test.each([
    'ThrottlingException',
    'TimeoutError',
    'InternalServerError',
    'StoreBusy',
    'ResourceNotFoundException',
    'Error',
  ])('because of %s gets 503 and never 200', async (name) => {
    const on = storeWith(() => Promise.reject(failure(name)))
    const receiver = await bench.another({ on })
    const source = await bench.source()
    const { status, headers, body } = await receiver.send(source.sourceId)
    expect([status, body.error?.code]).toEqual([503, 'server.unavailable'])
    expect(headers.get('retry-after')).toBe('5')
    expect(await bench.eventsOf(source)).toEqual([])
    expect(receiver.hinted).toEqual([])
  })

  test('within thirty seconds of its receipt gets 503 and is not stored afterwards', async () => {
    const source = await bench.source()
    const attempts: number[] = []
    const on = storeWith(async () => {
      attempts.push(bench.clock.now())
      bench.clock.advance({ seconds: 20 })
      throw failure('TimeoutError')
    })
    const receiver = await bench.another({ on })
    expect((await receiver.send(source.sourceId)).status).toBe(503)
    expect(attempts).toHaveLength(2)

    // The same if something else took the time, such as reading the source.
    const slow: Db = {
      ...bench.db,
      query(input) {
        bench.clock.advance({ seconds: 31 })
        return bench.db.query(input)
      },
    }
    const late = await bench.another({ on: slow })
    const other = await bench.source()
    expect((await late.send(other.sourceId)).status).toBe(503)
    expect(await bench.eventsOf(other)).toEqual([])
    expect(await bench.toBeRouted()).toEqual([])
  })

  test('because the store does not respond gets 503 after thirty seconds', async () => {
    const timers = testTimers(bench.clock)
    let isAsked = () => {}
    const asked = new Promise<void>((resolve) => (isAsked = resolve))
    const on = storeWith(() => {
      isAsked()
      return new Promise(() => {})
    })
    const receiver = await bench.another({ on, startTimer: timers.start })
    const source = await bench.source()
    const answer = receiver.send(source.sourceId)
    await asked
    await timers.pass({ ms: 29_000 })
    expect(receiver.lines).toEqual([])
    await timers.pass({ ms: 2_000 })
    const { status, headers, body } = await answer
    expect([status, body.error?.code]).toEqual([503, 'server.unavailable'])
    expect(headers.get('retry-after')).toBe('5')
    expect(await bench.eventsOf(source)).toEqual([])
  })

  test('because of throttling is stored when the throttling ends', async () => {
    let left = 5
    const throttled = storeWith((input) =>
      left-- > 0
        ? Promise.reject(failure('ThrottlingException'))
        : bench.db.transactWriteItems(input),
    )
    const on = retryingDb(throttled, { pause: async () => {} })
    const receiver = await bench.another({ on })
    const source = await bench.source()
    const { status, body } = await receiver.send(source.sourceId)
    expect(status).toBe(200)
    expect(await bench.eventsOf(source)).toMatchObject([{ eventId: body.id }])
  })

  test('does not use the limit per minute', async () => {
    let isDown = true
    const on = storeWith((input) =>
      isDown ? Promise.reject(failure('Error')) : bench.db.transactWriteItems(input),
    )
    const receiver = await bench.another({ on, ...few('pro', { eventsPerMinute: 1 }) })
    const source = await bench.source({ plan: 'pro' })
    for (let sent = 0; sent < 3; sent++) await receiver.send(source.sourceId)
    isDown = false
    expect((await receiver.send(source.sourceId)).status).toBe(200)
    expect((await receiver.send(source.sourceId)).status).toBe(429)
  })

  test('returns the room that the worker had reserved for it, as a duplicate does', async () => {
    const counts = { delivered: 0, cancelled: 0 }
    const lease = { leaseId: newId('lse'), claimedAt: bench.clock.now() }
    const reserve = async () => ({
      lease: { ...lease, leaseUntil: bench.clock.now() + 25_000 },
      deliver: () => void (counts.delivered += 1),
      cancel: () => void (counts.cancelled += 1),
    })
    const broken = storeWith(() => Promise.reject(failure('InternalServerError')))
    const failing = await bench.another({ on: broken, reserve })
    const source = await bench.source({ provider: 'stripe', signingAlgorithm: 'none' })
    expect((await failing.send(source.sourceId)).status).toBe(503)
    expect(counts).toEqual({ delivered: 0, cancelled: 1 })
    const receiver = await bench.another({ reserve })
    for (const duplicate of [undefined, true]) {
      const { body } = await receiver.send(source.sourceId, { body: '{"id":"evt_1"}' })
      expect(body.duplicate).toBe(duplicate)
    }
    expect(counts).toEqual({ delivered: 1, cancelled: 2 })
  })
})
