/** Tenants whose tasks are in the same shard: what one of them leaves to do does not delay the others. */
import type { ServerResponse } from 'node:http'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../../src/queue/shards.ts'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import type { Source } from '../../src/sources/item.ts'
import { serviceWorlds, times } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const FILTER = JSON.stringify([{ path: '$.id', operator: 'exists' }])

describe.each(serviceWorlds())('tenants in one shard on $name', (world) => {
  const scheduler = createWorkScheduler()
  /** Owners whose filters do not finish. */
  const blocked = new Map<string, Promise<void>>()
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world, {
      scheduler: {
        ...scheduler,
        async evaluate(owner, job) {
          await blocked.get(owner)
          return scheduler.evaluate(owner, job)
        },
      },
    })
  })
  afterAll(async () => {
    await bench.close()
    await scheduler.close()
  })

  /** A source of another user whose tasks are in the same shard. */
  async function neighbourOf({ sourceId }: Source): Promise<Source> {
    const shards = await bench.stores.shards.count()
    for (;;) {
      const source = await bench.newSource()
      if (shardOf(source.sourceId, shards) === shardOf(sourceId, shards)) return source
    }
  }

  test('a tenant whose filters take long does not delay another tenant', async () => {
    const slow = await bench.newSource()
    await bench.connect(slow, '/slow', { filters: FILTER })
    const quick = await neighbourOf(slow)
    await bench.connect(quick, '/quick')
    let unblock = () => {}
    blocked.set(slow.userId, new Promise((resolve) => (unblock = resolve)))
    const body = new TextEncoder().encode('{"id":1}')
    const backlog = await Promise.all(times(150, () => bench.receive(slow, { body })))
    bench.worker.wake()
    await bench.timers.pass({ ms: 1_000 })

    const event = await bench.receive(quick)
    bench.worker.wake(event)
    await bench.sink.until('/quick', 1)
    expect(bench.sink.received('/quick')[0]?.headers['webhook-id']).toBe(event.eventId)
    expect(bench.sink.received('/slow')).toEqual([])

    unblock()
    await bench.worker.runOnce()
    for (const each of backlog) expect(await bench.status(each)).toBe('delivered')
  })

  test('a tenant with more deliveries than its destination takes does not delay another tenant', async () => {
    const path = `/busy-${newId('evt')}`
    const busy = await bench.newSource()
    await bench.connect(busy, path)
    const quick = await neighbourOf(busy)
    await bench.connect(quick, '/neighbour')
    const waiting: ServerResponse[] = []
    let isOpen = false
    bench.sink.behave(path, (response) => {
      // The first responses show that the destination works, so its queue counts as moving.
      if (isOpen || bench.sink.received(path).length <= 5) response.end()
      else waiting.push(response)
    })
    const backlog = await Promise.all(times(400, () => bench.receive(busy)))
    bench.worker.wake()
    await bench.sink.until(path, 25)

    const event = await bench.receive(quick)
    bench.worker.wake(event)
    await bench.sink.until('/neighbour', 1)
    expect(bench.sink.received('/neighbour')[0]?.headers['webhook-id']).toBe(event.eventId)
    expect(bench.sink.received(path).length).toBeLessThan(100)

    isOpen = true
    for (const response of waiting) response.end()
    await bench.worker.runOnce()
    await bench.live(6)
    for (const each of backlog) expect(await bench.status(each)).toBe('delivered')
  })

  test('a worker that is not told of an event finds it behind the backlog with its next poll', async () => {
    const slow = await bench.newSource()
    await bench.connect(slow, '/slow-again', { filters: FILTER })
    const quick = await neighbourOf(slow)
    await bench.connect(quick, '/polled')
    let unblock = () => {}
    blocked.set(slow.userId, new Promise((resolve) => (unblock = resolve)))
    const body = new TextEncoder().encode('{"id":1}')
    await Promise.all(times(250, () => bench.receive(slow, { body })))
    const event = await bench.receive(quick)
    // More of the backlog is newer than the event.
    await Promise.all(times(100, () => bench.receive(slow, { body })))
    bench.worker.start()
    await bench.sink.until('/polled', 1)
    expect(bench.sink.received('/polled')[0]?.headers['webhook-id']).toBe(event.eventId)
    unblock()
    await bench.worker.runOnce()
  })

  /** A worker whose reads of due tasks wait until they are allowed. */
  function workerWithHeldReads() {
    let allow = () => {}
    const allowed = new Promise<void>((resolve) => (allow = resolve))
    let reads = 0
    const { stores } = bench
    const worker = bench.anotherWorker({
      stores: {
        ...stores,
        queue: {
          ...stores.queue,
          async listDue(...args) {
            reads += 1
            await allowed
            return stores.queue.listDue(...args)
          },
        },
      },
    })
    return { worker, allow, reads: () => reads }
  }

  test('a backlog is read in pages, not task by task as attempts end', async () => {
    const { worker, allow, reads } = workerWithHeldReads()
    const source = await bench.newSource()
    await bench.connect(source, '/in-pages')
    await Promise.all(times(160, () => bench.receive(source)))
    allow()
    await worker.runOnce()
    await bench.sink.until('/in-pages', 160)
    // One for each shard, and one for every sixteen tasks, twice because reads may overlap.
    expect(reads()).toBeLessThanOrEqual((await bench.stores.shards.count()) + 2 * (160 / 16))
    await worker.close()
  })

  test('polls do not add up while a shard is still being read', async () => {
    const { worker, allow, reads } = workerWithHeldReads()
    worker.start()
    for (let poll = 0; poll < 5; poll++) await bench.timers.pass({ ms: 1_000 })
    expect(reads()).toBe(await bench.stores.shards.count())
    allow()
    await bench.timers.until(worker.close())
  })

  test('an event that comes while its shard is being read does not wait for the read', async () => {
    const { worker, allow } = workerWithHeldReads()
    const source = await bench.newSource()
    await bench.connect(source, '/during-a-read')
    worker.start()
    await bench.timers.pass({ ms: 1 })
    const event = await bench.receive(source)
    worker.wake(event)
    await bench.sink.until('/during-a-read', 1)
    allow()
    await bench.timers.until(worker.close())
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received('/during-a-read')).toHaveLength(1)
  })

  test('a task that waits for its turn when the worker closes is left to another worker', async () => {
    let begin = () => {}
    const turn = new Promise<void>((resolve) => (begin = resolve))
    const source = await bench.newSource()
    await bench.connect(source, '/after-closing')
    const closing = bench.anotherWorker({
      scheduler: {
        ...scheduler,
        async run(owner, work) {
          if (owner === source.userId) await turn
          return scheduler.run(owner, work)
        },
      },
    })
    const event = await bench.receive(source)
    closing.wake(event)
    await bench.timers.pass({ ms: 1 })
    const closed = closing.close()
    begin()
    await bench.timers.until(closed)
    expect(await bench.status(event)).toBe('received')
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
  })
})
