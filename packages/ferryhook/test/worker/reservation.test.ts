/** Events that the process which receives them delivers itself: they are stored with their claim. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Source } from '../../src/sources/item.ts'
import { answer, hang } from '../support/test-destination.ts'
import {
  allDue,
  eventInput,
  required,
  serviceWorlds,
  storesOn,
  times,
} from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceWorlds())('events of a receiving worker on $name', (world) => {
  let bench: WorkerBench
  let paths = 0

  beforeAll(async () => {
    bench = await openWorkerBench(world, { random: () => 0.5 })
  })
  afterAll(() => bench.close())

  const newPath = () => `/reserved-${++paths}`

  /** As ingest does it: reserve, store, deliver. */
  async function receive(source: Source, worker = bench.worker) {
    const reserved = required(await worker.reserve(source))
    const { sourceId, userId } = source
    const input = eventInput({ sourceId, userId, plan: 'team', lease: reserved.lease })
    const event = await bench.stores.events.create(input)
    return { event, deliver: () => reserved.deliver({ event, body: input.body }) }
  }

  const dueTasks = async (eventId: string) =>
    (await allDue(bench.stores)).filter((task) => 'eventId' in task && task.eventId === eventId)

  test('take one transaction and no read after the one that stores them', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, newPath())
    const calls: string[] = []
    const db: typeof bench.db = {
      ...bench.db,
      transactWriteItems(input) {
        calls.push('transaction')
        return bench.db.transactWriteItems(input)
      },
      getItem(input) {
        if (String(input.Key['PK']).startsWith('EVT#')) calls.push('read')
        if (String(input.Key['SK']).startsWith('EVT#')) calls.push('read')
        return bench.db.getItem(input)
      },
    }
    const worker = bench.anotherWorker({ stores: storesOn(db, bench.clock) })
    // The first event of a source plans its metering.
    for (let n = 0; n < 2; n++) {
      calls.length = 0
      const { event, deliver } = await receive(source, worker)
      expect(await bench.status(event)).toBe('processing')
      expect(await dueTasks(event.eventId)).toEqual([])
      deliver()
      await worker.runOnce()
      expect(await bench.status(event)).toBe('delivered')
      expect(await bench.attempts(event, connection)).toHaveLength(1)
      expect(await bench.stores.events.getById(event.eventId)).toMatchObject({
        processedAt: bench.clock.now(),
      })
    }
    expect(calls).toEqual(['transaction'])
    const bodies = bench.sink.received(new URL(connection.destinationUrl).pathname)
    expect(bodies.map(({ body }) => String(body))).toEqual(
      times(2, () => '{"type":"invoice.paid"}'),
    )
  })

  test('are delivered by another worker when the lease of a dead process ends, and not before', async () => {
    const source = await bench.newSource()
    const path = newPath()
    await bench.connect(source, path)
    const { event } = await receive(source, bench.anotherWorker())
    await bench.timers.pass({ ms: 24_999 })
    await bench.worker.runOnce()
    expect(bench.sink.received(path)).toEqual([])
    await bench.timers.pass({ ms: 1 })
    await bench.worker.runOnce()
    expect(bench.sink.received(path)).toHaveLength(1)
    expect(await bench.status(event)).toBe('delivered')
  })

  test.each([
    ['filter', { filters: JSON.stringify([{ path: '$.type', operator: 'equals', value: 'x' }]) }],
    ['pause', { status: 'paused' }],
    ['delay', { retryConfig: '[60,60]' }],
  ] as const)('are stored with their deliveries if connections %s them', async (kind, given) => {
    const source = await bench.newSource()
    const { sourceId } = source
    const connection = await bench.connect(source, newPath(), kind === 'pause' ? {} : given)
    if (kind === 'pause') {
      await bench.stores.connections.update(connection.connectionId, given, { sourceId })
    }
    const { event, deliver } = await receive(source)
    deliver()
    await bench.worker.runOnce()
    const states = { filter: 'filtered', pause: 'held', delay: 'runnable' }
    expect(await bench.delivery(event, connection)).toMatchObject({ state: states[kind] })
    expect(await bench.status(event)).not.toBe('received')
    expect(await dueTasks(event.eventId)).toEqual([])
    await bench.timers.pass({ seconds: 60 })
    const tasks = await dueTasks(event.eventId)
    expect(tasks).toHaveLength(kind === 'delay' ? 1 : 0)
    await bench.live(1)
  })

  test('have no room while many of their user are being claimed, until these are stored or rejected', async () => {
    const source = await bench.newSource()
    const reserved = await Promise.all(times(40, () => bench.worker.reserve(source)))
    const taken = reserved.filter((each) => each !== undefined)
    expect(taken).toHaveLength(32)
    expect(await bench.worker.reserve(await bench.newSource())).toBeDefined()
    for (const { cancel } of taken) cancel()
    const again = required(await bench.worker.reserve(source))
    again.cancel()
  })

  test('are returned to the queue by a worker that closed before they were stored', async () => {
    const source = await bench.newSource()
    const path = newPath()
    await bench.connect(source, path)
    const worker = bench.anotherWorker()
    const { event, deliver } = await receive(source, worker)
    await worker.close()
    expect(await worker.reserve(source)).toBeUndefined()
    deliver()
    while ((await bench.status(event)) !== 'received') await new Promise(setImmediate)
    expect(bench.sink.received(path)).toEqual([])
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
  })

  test('are returned to the queue if the connections cannot be read, and delivered by the next poll', async () => {
    const source = await bench.newSource()
    await bench.connect(source, newPath())
    let isBroken = true
    const stores = storesOn(bench.db, bench.clock)
    const { listBySource } = stores.connections
    stores.connections.listBySource = (...given) =>
      isBroken ? Promise.reject(new Error('Not now')) : listBySource(...given)
    const worker = bench.anotherWorker({ stores })
    const { event, deliver } = await receive(source, worker)
    deliver()
    while ((await bench.status(event)) !== 'received') await new Promise(setImmediate)
    isBroken = false
    await worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
  })

  test('that fail are retried, and a slow connection does not delay the record of another', async () => {
    const source = await bench.newSource()
    const [slow, quick] = [newPath(), newPath()]
    bench.sink.behave(slow, hang)
    bench.sink.behave(quick, answer(409))
    await bench.connect(source, slow)
    const quickly = await bench.connect(source, quick)
    const { event, deliver } = await receive(source)
    deliver()
    await Promise.all([slow, quick].map((path) => bench.sink.until(path, 1)))
    while ((await bench.delivery(event, quickly))?.state !== 'retrying') {
      await new Promise(setImmediate)
    }
    expect(await bench.status(event)).toBe('retrying')
    bench.sink.behave(quick, answer(200))
    bench.sink.behave(slow, answer(200))
    await bench.timers.pass({ seconds: 11 })
    await bench.live(45)
    expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received(slow)).toHaveLength(2)
  })
})
