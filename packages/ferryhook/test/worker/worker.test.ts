import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { noDeliveries } from '../../src/deliveries/state.ts'
import { required, serviceWorlds, storesOn } from '../support/test-stores.ts'
import { answer } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceWorlds())('the worker on $name', (world) => {
  let bench: WorkerBench

  beforeAll(async () => {
    bench = await openWorkerBench(world, { random: () => 0.5 })
  })
  afterAll(() => bench.close())

  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000

  test('an event is delivered byte by byte, and everything about it is recorded', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/exact')
    const body = Buffer.from('{"type":"x",  "n": 1.0}\n')
    const event = await bench.receive(source, { body })
    expect(await bench.status(event)).toBe('received')
    bench.clock.advance({ seconds: 2 })
    const at = bench.clock.now()
    await bench.worker.runOnce()
    const [received, ...others] = bench.sink.received('/exact')
    expect(others).toEqual([])
    expect(received?.body).toEqual(body)
    expect(await bench.stores.events.getById(event.eventId)).toMatchObject({
      status: 'delivered',
      processedAt: at,
      deliveredAt: at,
      counts: { ...noDeliveries, delivered: 1 },
    })
    const [attempt] = await bench.attempts(event, connection)
    expect(attempt).toMatchObject({
      attemptNumber: 1,
      run: 1,
      destinationUrl: connection.destinationUrl,
      statusCode: 200,
      responseBody: 'ok',
      attemptedAt: at,
    })
    expect(attempt).not.toHaveProperty('error')
    await bench.worker.runOnce()
    expect(bench.sink.received('/exact')).toHaveLength(1)
  })

  test('one event goes to three connections, each with its own outcome, which its status reflects', async () => {
    const source = await bench.newSource()
    const good = await bench.connect(source, '/good')
    const late = await bench.connect(source, '/late')
    const never = await bench.connect(source, '/never', { retryConfig: '[0,60]' })
    bench.sink.behave('/late', answer(503))
    bench.sink.behave('/never', answer(400, {}, 'no'))
    const event = await bench.receive(source)
    const status = () => bench.status(event)
    const states = async () =>
      Promise.all([good, late, never].map(async (to) => (await bench.delivery(event, to))?.state))

    await bench.worker.runOnce()
    expect(await status()).toBe('retrying')
    expect(await states()).toEqual(['delivered', 'retrying', 'retrying'])
    bench.sink.behave('/late', answer(204))
    await bench.timers.pass({ ms: 30_000 })
    await bench.worker.runOnce()
    expect(await status()).toBe('retrying')
    expect(await states()).toEqual(['delivered', 'delivered', 'retrying'])
    await bench.timers.pass({ ms: 30_000 })
    await bench.worker.runOnce()
    expect(await states()).toEqual(['delivered', 'delivered', 'failed'])
    expect(await bench.stores.events.getById(event.eventId)).toMatchObject({
      status: 'failed',
      counts: { ...noDeliveries, delivered: 2, failed: 1 },
    })
    expect(await bench.delivery(event, never)).toMatchObject({ reason: 'exhausted' })
    const codes = async (to: typeof good) =>
      (await bench.attempts(event, to)).map(({ statusCode }) => statusCode)
    expect(await codes(good)).toEqual([200])
    expect(await codes(late)).toEqual([503, 204])
    expect(await codes(never)).toEqual([400, 400])
    expect((await bench.attempts(event, never))[0]).toMatchObject({ responseBody: 'no' })
  })

  test('a filtered delivery shows its reason, and an event without a matching connection is filtered', async () => {
    const source = await bench.newSource()
    const only = (type: string) => ({
      filters: JSON.stringify([{ path: '$.type', operator: 'equals', value: type }]),
    })
    const paid = await bench.connect(source, '/paid', only('paid'))
    const failed = await bench.connect(source, '/refunded', only('refunded'))
    const event = await bench.receive(source, { body: Buffer.from('{"type":"paid"}') })
    const other = await bench.receive(source, { body: Buffer.from('{"type":"other"}') })
    await bench.worker.runOnce()
    expect(bench.sink.received('/paid')).toHaveLength(1)
    expect(bench.sink.received('/refunded')).toEqual([])
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.delivery(event, paid)).toMatchObject({ state: 'delivered' })
    expect(await bench.delivery(event, failed)).toMatchObject({
      state: 'filtered',
      reason: expect.stringContaining('$.type'),
      attemptsMade: 0,
    })
    expect(await bench.status(other)).toBe('filtered')
  })

  test('a filter that was stored before numbers were checked still works', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/large', {
      filters: JSON.stringify([{ path: '$.id', operator: 'in', value: [2 ** 60, 7] }]),
    })
    const of = (id: number) => bench.receive(source, { body: Buffer.from(JSON.stringify({ id })) })
    const events = [await of(7), await of(2 ** 60), await of(8)]
    await bench.worker.runOnce()
    const ends = await Promise.all(events.map((event) => bench.delivery(event, connection)))
    expect(ends.map((end) => end?.state)).toEqual(['delivered', 'delivered', 'filtered'])
  })

  test('an event without a connection is unrouted and shows why', async () => {
    const lonely = await bench.newSource()
    const event = await bench.receive(lonely)
    const deleted = await bench.newSource()
    await bench.connect(deleted, '/deleted-source')
    const last = await bench.receive(deleted)
    await bench.stores.sources.delete(deleted.sourceId, deleted.userId)
    await bench.worker.runOnce()
    const found = async ({ eventId }: typeof event) => bench.stores.events.getById(eventId)
    expect(await found(event)).toMatchObject({ status: 'unrouted', reason: 'no_connections' })
    expect(await found(last)).toMatchObject({ status: 'unrouted', reason: 'source_deleted' })
    expect(bench.sink.received('/deleted-source')).toEqual([])
  })

  test('a paused connection holds its deliveries and releases them on resume', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/paused')
    const { connectionId, sourceId } = connection
    const set = (status: 'active' | 'paused') =>
      bench.stores.connections.update(connectionId, { status }, { sourceId })
    await set('paused')
    const events = [await bench.receive(source), await bench.receive(source)]
    await bench.worker.runOnce()
    for (const event of events) {
      expect(await bench.status(event)).toBe('held')
      expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'paused' })
    }
    await bench.timers.pass({ ms: 86_400_000 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/paused')).toEqual([])
    await set('active')
    await bench.live(6)
    for (const event of events) expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received('/paused')).toHaveLength(2)
  })

  test('a retry to a connection that was paused concurrently is held, and keeps its number', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/paused-later')
    const { connectionId, sourceId } = connection
    bench.sink.behave('/paused-later', answer(500))
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    await bench.timers.pass({ ms: 30_000 })
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('held')
    bench.sink.behave('/paused-later', answer(200))
    await bench.stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    await bench.live(6)
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toMatchObject([
      { attemptNumber: 1, statusCode: 500 },
      { attemptNumber: 2, statusCode: 200 },
    ])
  })

  test('410 pauses the connection with its reason, notifies its owner, and holds the event', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/gone')
    bench.sink.behave('/gone', answer(410))
    const [first, second] = [await bench.receive(source), await bench.receive(source)]
    await bench.worker.runOnce()
    await bench.worker.runOnce()
    const { connectionId, sourceId, userId, name: connectionName } = connection
    expect(await bench.stores.connections.get(connectionId, sourceId)).toMatchObject({
      status: 'paused',
      statusReason: 'gone',
    })
    const kind = 'connection.paused'
    const about = { kind, connectionId, connectionName, sourceId, userId, reason: 'gone' }
    expect(
      bench.alerts.filter(
        (alert) => 'connectionId' in alert && alert.connectionId === connectionId,
      ),
    ).toEqual([about])
    for (const event of [first, second]) expect(await bench.status(event)).toBe('held')
    // The other one may have been held before its attempt.
    const attempts = [first, second].map((event) => bench.attempts(event, connection))
    expect((await Promise.all(attempts)).flat()[0]).toMatchObject({ statusCode: 410 })
    bench.sink.behave('/gone', answer(200))
    await bench.stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    await bench.live(6)
    for (const event of [first, second]) expect(await bench.status(event)).toBe('delivered')
  })

  test('410 of a former URL of the connection does not pause it', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/left')
    const { connectionId, sourceId } = connection
    bench.sink.behave('/left', (response) => {
      const destinationUrl = bench.sink.url('/entered')
      void bench.stores.connections
        .update(connectionId, { destinationUrl }, { sourceId })
        .then(() => response.writeHead(410).end())
    })
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    await bench.worker.runOnce()
    expect(await bench.stores.connections.get(connectionId, sourceId)).toMatchObject({
      status: 'active',
    })
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toMatchObject([
      { attemptNumber: 1, statusCode: 410 },
      { attemptNumber: 2, statusCode: 200, destinationUrl: bench.sink.url('/entered') },
    ])
  })

  test('parked deliveries of a deleted connection fail', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/deleted')
    const { connectionId, sourceId } = connection
    await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    const held = await bench.receive(source)
    await bench.worker.runOnce()
    await bench.stores.connections.delete(connectionId, { sourceId })
    await bench.live(6)
    expect(await bench.status(held)).toBe('failed')
    expect(await bench.delivery(held, connection)).toMatchObject({ reason: 'connection_deleted' })
    expect(bench.sink.received('/deleted')).toEqual([])
  })

  test('a delivery that is held for thirty days fails with the reason retention', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/overstayed')
    const { connectionId, sourceId } = connection
    await bench.stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    const event = await bench.receive(source, { plan: 'free' })
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('held')
    await bench.timers.pass({ ms: 30 * 86_400_000 - 1_800_000 })
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('failed')
    expect(await bench.delivery(event, connection)).toMatchObject({ reason: 'retention' })
  })

  test('a replay passes through the whole pipeline again, in its own run', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, '/replayed')
    const { connectionId, sourceId } = connection
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    await bench.stores.deliveries.replay(event.eventId, connectionId)
    expect(await bench.status(event)).toBe('processing')
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('delivered')
    const [first, again] = bench.sink.received('/replayed')
    expect(again?.body).toEqual(first?.body)
    expect(first?.headers).not.toHaveProperty('x-ferryhook-replay')
    expect(again?.headers).toMatchObject({
      'x-ferryhook-replay': expect.stringMatching(/^rpl_/),
    })
    expect((await bench.attempts(event, connection)).map(({ run }) => run)).toEqual([1, 2])

    const filters = JSON.stringify([{ path: '$.type', operator: 'equals', value: 'nothing' }])
    await bench.stores.connections.update(connectionId, { filters }, { sourceId })
    await bench.stores.deliveries.replay(event.eventId, connectionId)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('filtered')
    expect(bench.sink.received('/replayed')).toHaveLength(2)
  })

  test('a first attempt waits as long as its schedule says', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/later', { retryConfig: '[90]' })
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('processing')
    const due = inSeconds(90)
    await bench.timers.pass({ ms: 89_999 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/later')).toEqual([])
    await bench.timers.pass({ ms: 1 })
    await bench.worker.runOnce()
    expect(bench.sink.received('/later').map(({ at }) => at)).toEqual([due])
    expect(await bench.status(event)).toBe('delivered')
  })

  test('events are counted for their source and its owner', async () => {
    const source = await bench.newSource()
    await bench.connect(source, '/counted')
    await bench.receive(source)
    await bench.receive(source)
    await bench.worker.runOnce()
    await bench.timers.pass({ ms: 600_000 })
    await bench.worker.runOnce()
    const after = required(await bench.stores.sources.getOwned(source.sourceId, source.userId))
    expect(after).toMatchObject({ eventCount: 2 })
    expect(await bench.stores.users.getById(source.userId)).toMatchObject({ usageThisMonth: 2 })
  })

  test('receipt, delivery and metering call the functions of the specification', async () => {
    const stores = storesOn(bench.db, bench.clock)
    const worker = bench.anotherWorker({ stores })
    const calls = {
      updateStatus: vi.spyOn(stores.events, 'updateStatus'),
      createAttempt: vi.spyOn(stores.attempts, 'create'),
      incrementUsage: vi.spyOn(stores.users, 'incrementUsage'),
    }
    const source = await bench.newSource()
    const { connectionId } = await bench.connect(source, '/by-specification')
    const { eventId } = await bench.receive(source)
    await worker.runOnce()
    const counted = calls.updateStatus.mock.calls.map(([, { counts }]) => counts?.delivered)
    expect(counted).toEqual([1])
    const [attempt] = calls.createAttempt.mock.calls
    expect(attempt).toEqual([eventId, 1, expect.objectContaining({ connectionId, run: 1 })])
    await bench.timers.pass({ ms: 600_000 })
    await worker.runOnce()
    expect(calls.incrementUsage).toHaveBeenCalledWith(source.userId, 1, expect.anything())
  })
})
