import { retryingDb } from '@strongroom/kit/retrying-db'
import { hostileDb } from '@strongroom/kit/testing/hostile-db'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBudget } from '../../src/filters/budget.ts'
import { retentionSeconds } from '../../src/plans.ts'
import type { WorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { losingAnswers, required, times } from '../support/test-stores.ts'
import { type IngestBench, openIngestBench } from '../support/test-ingest.ts'

describe.each(serviceStores())('a duplicate webhook on $name', (store) => {
  let bench: IngestBench

  beforeAll(async () => {
    bench = await openIngestBench(store)
  })
  afterAll(() => bench.close())

  const github = (delivery: string) => ({ headers: { 'x-github-delivery': delivery } })
  const stripe = (id: string, more = {}) => ({ body: JSON.stringify({ id, ...more }) })

  test('gets the id of the first one and is not stored again', async () => {
    const source = await bench.source({ provider: 'stripe' })
    const first = await bench.send(source.sourceId, stripe('evt_1'))
    const hints = bench.hinted.length
    const second = await bench.send(source.sourceId, stripe('evt_1', { pending_webhooks: 2 }))
    const { id } = first.body
    expect([second.status, second.body]).toEqual([200, { id, status: 'received', duplicate: true }])
    const stored = await bench.eventsOf(source)
    expect(stored).toMatchObject([{ eventId: id }])
    expect(String(await bench.bodyOf(required(stored[0])))).toBe('{"id":"evt_1"}')
    expect(bench.hinted).toHaveLength(hints)
    const other = await bench.send(source.sourceId, stripe('evt_2'))
    expect(other.body.duplicate).toBeUndefined()
  })

  test('sent twenty times concurrently is one event, and every response has its id', async () => {
    const source = await bench.source({ provider: 'github' })
    const other = await bench.another()
    const answers = await Promise.all(
      times(20, (at) => (at % 2 === 0 ? bench : other).send(source.sourceId, github('one'))),
    )
    const ids = new Set(answers.map(({ body }) => body.id))
    expect(answers.map(({ status }) => status)).toEqual(times(20, () => 200))
    expect(answers.filter(({ body }) => body.duplicate !== true)).toHaveLength(1)
    expect(ids.size).toBe(1)
    expect(await bench.eventsOf(source)).toMatchObject([{ eventId: [...ids][0] }])
  })

  test('sent to two sources is two events', async () => {
    const [one, other] = [
      await bench.source({ provider: 'github' }),
      await bench.source({ provider: 'github' }),
    ]
    const answers = [
      await bench.send(one.sourceId, github('same')),
      await bench.send(other.sourceId, github('same')),
    ]
    expect(answers.map(({ body }) => body.duplicate)).toEqual([undefined, undefined])
  })

  test('is recognized by the rule of the source, if it has one', async () => {
    const source = await bench.source({
      provider: 'stripe',
      dedup: '{"by":"path","path":"$.data.ref"}',
    })
    const send = (id: string, ref: string) =>
      bench.send(source.sourceId, stripe(id, { data: { ref } }))
    await send('evt_1', 'a')
    expect((await send('evt_2', 'a')).body.duplicate).toBe(true)
    expect((await send('evt_1', 'b')).body.duplicate).toBeUndefined()
  })

  test('is found in a large body in a turn of its own, in a small one at once', async () => {
    const source = await bench.source({ dedup: '{"by":"path","path":"$.ref"}' })
    const turns: string[] = []
    const scheduler: Pick<WorkScheduler, 'run'> = {
      async run(owner, work) {
        turns.push(owner)
        return work(createBudget())
      },
    }
    const receiver = await bench.another({ scheduler })
    const send = (ref: string, text: string) =>
      receiver.send(source.sourceId, { body: JSON.stringify({ ref, text }) })
    await send('a', '')
    expect(turns).toEqual([])
    expect((await send('a', 'x'.repeat(20_000))).body.duplicate).toBe(true)
    expect(turns).toEqual([source.userId])
  })

  test('without an event id of the provider is a new event', async () => {
    const source = await bench.source({ provider: 'github' })
    await bench.send(source.sourceId, { body: 'same' })
    await bench.send(source.sourceId, { body: 'same' })
    expect(await bench.eventsOf(source)).toHaveLength(2)
  })

  test('is a new event after the first one has expired', async () => {
    const source = await bench.source({ provider: 'github', plan: 'free' })
    const first = await bench.send(source.sourceId, github('one'))
    bench.clock.advance({ seconds: retentionSeconds.free - 1 })
    expect((await bench.send(source.sourceId, github('one'))).body.duplicate).toBe(true)
    bench.clock.advance({ seconds: 1 })
    const again = await bench.send(source.sourceId, github('one'))
    expect(again.body.duplicate).toBeUndefined()
    expect(again.body.id).not.toBe(first.body.id)
  })

  test('caused by lost responses of the store is one event, under the returned id', async () => {
    for (const lost of [1, 2]) {
      const bad = await bench.another({ on: losingAnswers(bench.db, lost) })
      const source = await bench.source()
      const { status, body } = await bad.send(source.sourceId)
      expect(status).toBe(200)
      expect(await bench.eventsOf(source)).toMatchObject([{ eventId: body.id }])
    }
  })

  test('caused by too many lost responses is recognized by the event id of the provider', async () => {
    const bad = await bench.another({ on: losingAnswers(bench.db, 3) })
    const source = await bench.source({ provider: 'github' })
    expect((await bad.send(source.sourceId, github('one'))).status).toBe(503)
    const { status, body } = await bad.send(source.sourceId, github('one'))
    expect([status, body.duplicate]).toEqual([200, true])
    expect(await bench.eventsOf(source)).toMatchObject([{ eventId: body.id }])
    expect(await bench.toBeRouted()).toContain(body.id)
  })

  test('repeated until an unreliable store succeeds is one event', async () => {
    const hostility = { seed: 5, lostResponse: 0.5, conflict: 0.3, throttle: 0.3 }
    const bad = await bench.another({
      on: retryingDb(hostileDb(bench.db, hostility), { pause: async () => {} }),
    })
    for (const delivery of times(8, (index) => `${index}`)) {
      const source = await bench.source({ provider: 'github' })
      let answer = await bad.send(source.sourceId, github(delivery))
      while (answer.status === 503) answer = await bad.send(source.sourceId, github(delivery))
      expect(await bench.eventsOf(source)).toMatchObject([{ eventId: answer.body.id }])
    }
  })
})
