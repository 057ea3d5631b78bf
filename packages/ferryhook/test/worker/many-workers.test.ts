import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import type { Stores } from '../../src/stores.ts'
import type { Event } from '../../src/events/item.ts'
import { storesOn, required, serviceWorlds, times } from '../support/test-stores.ts'
import { hang } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceWorlds())('many workers on $name', (world) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world, { random: () => 0.5 })
  })
  afterAll(() => bench.close())

  test('workers on one store deliver each event once', async () => {
    const workers = [bench.worker, bench.anotherWorker(), bench.anotherWorker()]
    const sources = await Promise.all(times(3, () => bench.newSource()))
    await Promise.all(
      sources.flatMap((source, n) => [
        bench.connect(source, `/shared-${n}`),
        bench.connect(source, `/shared-${n}`),
      ]),
    )
    const events = await Promise.all(
      times(24, (n) => bench.receive(required(sources[n % sources.length]))),
    )
    await Promise.all(workers.map((worker) => worker.runOnce()))
    // Work that one worker lost to another was not done by both.
    await bench.worker.runOnce()
    for (const event of events) expect(await bench.status(event)).toBe('delivered')
    const ids = times(3, (n) => bench.sink.received(`/shared-${n}`))
      .flat()
      .map(({ headers }) => headers['webhook-id'])
    expect(ids).toHaveLength(48)
    for (const { eventId } of events) expect(ids.filter((id) => id === eventId)).toHaveLength(2)
  })

  test('an attempt whose turn comes too late for its lease is made later instead', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/late-turn')
    const event = await bench.receive(source)
    const scheduler = createWorkScheduler()
    let [reach, begin] = [() => {}, () => {}]
    const reached = new Promise<void>((resolve) => (reach = resolve))
    const turn = new Promise<void>((resolve) => (begin = resolve))
    let turns = 0
    const late = bench.anotherWorker({
      scheduler: {
        ...scheduler,
        async run(owner, work) {
          // The first turn routes the event, the second one sends the request.
          if (owner === source.userId && ++turns === 2) {
            reach()
            await turn
          }
          return scheduler.run(owner, work)
        },
      },
    })
    const ran = late.runOnce()
    await reached
    await bench.timers.pass({ ms: 16_000 })
    begin()
    await bench.timers.until(ran)
    expect(bench.sink.received('/late-turn')).toEqual([])
    await bench.live(10)
    expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received('/late-turn')).toHaveLength(1)
  })

  test('a task of a dead worker is taken over when its lease ends, and not before', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/taken-over')
    const event = await bench.receive(source)
    // As if the process had been killed right after it wrote its lease.
    let bury = () => {}
    const dead = new Promise<never>((_, reject) => {
      bury = () => reject(new SafeFetchError('aborted'))
    })
    dead.catch(() => {})
    let reach = () => {}
    const reached = new Promise<void>((resolve) => (reach = resolve))
    const send = () => {
      reach()
      return dead
    }
    const nothing = { check: () => new URL(connection.destinationUrl), close: async () => {} }
    const dying = bench.anotherWorker({ fetcher: Object.assign(send, nothing) })
    const death = dying.runOnce()
    // Not only the claim: a worker that is late for its lease would park the delivery.
    await reached
    expect(await bench.status(event)).toBe('processing')
    const leaseEnds = bench.clock.now() + 25_000
    await bench.timers.pass({ ms: 24_999 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/taken-over')).toEqual([])
    await bench.timers.pass({ ms: 1 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/taken-over')).toMatchObject([{ at: leaseEnds }])
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toHaveLength(1)
    bury()
    await death
  })

  test('a worker whose lease was taken over writes nothing, however late it continues', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/late-worker')
    let answerFirst = () => {}
    bench.sink.behave('/late-worker', (response, _received) => {
      if (bench.sink.received('/late-worker').length > 1) return void response.end('second')
      answerFirst = () => void response.writeHead(500).end('first')
    })
    const event = await bench.receive(source)
    // Its timers never fire, so no time passes for it.
    const late = bench.anotherWorker({ startTimer: () => () => {} })
    const ended = late.runOnce()
    await bench.sink.until('/late-worker', 1)
    bench.clock.advance({ seconds: 25 })
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
    const before = await bench.stores.events.getById(event.eventId)
    answerFirst()
    await ended
    expect(await bench.stores.events.getById(event.eventId)).toEqual(before)
    expect(await bench.attempts(event, connection)).toMatchObject([{ responseBody: 'second' }])
  })

  test('a closing worker finishes running attempts and releases the others', async () => {
    const source = await bench.newSource()
    // The clock advances until the worker has closed, which is long before any retry is due.
    const retryConfig = '[0,86400]'
    const limits = '{"concurrency":1}'
    const connection = await bench.connect(source, '/closing', { limits, retryConfig })
    bench.sink.behave('/closing', hang)
    const events = await Promise.all(times(3, () => bench.receive(source)))
    const closing = bench.anotherWorker()
    void closing.runOnce()
    await bench.sink.until('/closing', 1)
    const attemptsOf = () =>
      Promise.all(events.map(async (event) => (await bench.attempts(event, connection)).length))
    await bench.timers.until(closing.close())
    expect((await attemptsOf()).toSorted((a, b) => a - b)).toEqual([0, 0, 1])
    bench.sink.behave('/closing', (response) => void response.end())
    // Immediately, without waiting for a lease to end.
    await bench.worker.runOnce()
    expect((await attemptsOf()).toSorted((a, b) => a - b)).toEqual([1, 1, 1])
  })

  test('counting tasks of 4,000 sources that are due together delay a delivery by one poll at most', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/behind-counting')
    const dueAt = bench.clock.now()
    await Promise.all(
      times(4_000, () =>
        bench.stores.queue.putMetering({ sourceId: newId('src'), userId: newId('usr'), dueAt }),
      ),
    )
    await bench.timers.pass({ ms: 1 })
    const event = await bench.receive(source)
    // As if the store were slow: no count ends before the delivery.
    let release = () => {}
    const delivered = new Promise<void>((resolve) => (release = resolve))
    let counted = 0
    let reportAll = () => {}
    const allCounted = new Promise<void>((resolve) => (reportAll = resolve))
    const stores = storesOn(bench.db, bench.clock)
    const roll = async () => {
      await delivered
      counted += 1
      if (counted === 4_000) reportAll()
    }
    const worker = bench.anotherWorker({
      stores: { ...stores, metering: { ...stores.metering, roll } },
    })
    worker.start()
    while (bench.sink.received('/behind-counting').length === 0) {
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(bench.clock.now()).toBe(dueAt + 1)
    release()
    // A worker that closes leaves tasks that have not begun to others.
    await allCounted
    await bench.timers.until(worker.close())
    expect(await bench.status(event)).toBe('delivered')
    await bench.worker.runOnce()
    // DynamoDB Local needs most of a minute for the tasks.
  }, 180_000)
})

// On one store, because the responses are lost before they reach it.
describe.each(serviceWorlds().slice(0, 1))('lost responses on $name', (world) => {
  test('lose no event: each is delivered at least once, and its attempts are recorded', async () => {
    const bench = await openWorkerBench(world, { random: () => 0.5 })
    try {
      const source = await bench.newSource()
      const connection = await bench.connect(source, '/lossy')
      const stores: Stores = storesOn(bench.db, bench.clock, {
        seed: 11,
        lostResponse: 0.2,
        conflict: 0.1,
      })
      const worker = bench.anotherWorker({ stores })
      const events = await Promise.all(times(20, () => bench.receive(source)))
      // A claim whose response is lost costs a lease, possibly several times.
      const isOpen = async (event: Event) => (await bench.status(event)) !== 'delivered'
      let open = events
      for (let round = 0; open.length > 0 && round < 100; round++) {
        await bench.timers.until(worker.runOnce())
        await bench.timers.pass({ ms: 10_000 })
        const still = await Promise.all(open.map(isOpen))
        open = open.filter((_, index) => still[index])
      }
      for (const event of events) {
        expect(await bench.status(event)).toBe('delivered')
        expect(await bench.attempts(event, connection)).toHaveLength(1)
      }
      const ids = bench.sink.received('/lossy').map(({ headers }) => headers['webhook-id'])
      expect(new Set(ids).size).toBe(20)
    } finally {
      await bench.close()
    }
  })
})
