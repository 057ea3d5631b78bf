/** First attempts: nothing is stored for them but the claim of the route task, until their outcome. */
import { createCursors } from '@strongroom/kit/cursor'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expiryForAttempt } from '../../src/deliveries/transition.ts'
import type { Principal } from '../../src/accounts/authentication.ts'
import { createAccountEvents } from '../../src/events/account-events.ts'
import { createEventService } from '../../src/events/service.ts'
import type { Event } from '../../src/events/item.ts'
import type { Source } from '../../src/sources/item.ts'
import { eventsTable } from '../../src/tables.ts'
import { answer, type Behaviour } from '../support/test-destination.ts'
import { allDue, required, serviceWorlds, storesOn, times } from '../support/test-stores.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

describe.each(serviceWorlds())('first attempts on $name', (world) => {
  let bench: WorkerBench
  let paths = 0

  beforeAll(async () => {
    bench = await openWorkerBench(world, { random: () => 0.5 })
  })
  afterAll(() => bench.close())

  const newPath = () => `/first-${++paths}`

  /** A destination that does not respond until the test lets it. */
  function heldPath(status = 200) {
    const path = newPath()
    let respond: () => void = () => {}
    const behaviour: Behaviour = (response) =>
      (respond = () => void response.writeHead(status).end('ok'))
    bench.sink.behave(path, behaviour)
    return { path, respond: () => respond() }
  }

  /** Counts the transactions of a worker, and the items that they write. */
  function countingWorker() {
    const counts = { transactions: 0, parts: 0 }
    const db: typeof bench.db = {
      ...bench.db,
      transactWriteItems(input) {
        counts.transactions += 1
        counts.parts += input.TransactItems.length
        return bench.db.transactWriteItems(input)
      },
    }
    return { counts, worker: bench.anotherWorker({ stores: storesOn(db, bench.clock) }) }
  }

  const deliveriesOf = ({ eventId }: Event) => bench.stores.deliveries.listByEvent(eventId)
  const tasksOf = async ({ eventId }: Event) =>
    (await allDue(bench.stores)).filter((task) => 'eventId' in task && task.eventId === eventId)

  async function inProgress(source: Source, ...held: { path: string }[]) {
    for (const { path } of held) await bench.connect(source, path)
    const event = await bench.receive(source)
    const ran = bench.worker.runOnce()
    await Promise.all(held.map(({ path }) => bench.sink.until(path, 1)))
    return { event, ran }
  }

  test('an event to one connection takes two transactions of a worker: the claim and the outcome', async () => {
    const source = await bench.newSource()
    const connection = await bench.connect(source, newPath())
    const { counts, worker } = countingWorker()
    await bench.receive(source)
    // Metering is planned with the first event of a source.
    await worker.runOnce()
    Object.assign(counts, { transactions: 0, parts: 0 })
    const event = await bench.receive(source)
    await worker.runOnce()
    expect(counts).toEqual({ transactions: 2, parts: 7 })
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, connection)).toHaveLength(1)
    expect(await bench.delivery(event, connection)).toMatchObject({ state: 'delivered', run: 1 })
    expect(await tasksOf(event)).toEqual([])
  })

  test('an event to several connections is stored with the first outcome, and the others share transactions', async () => {
    const source = await bench.newSource()
    const connections = await Promise.all(times(5, () => bench.connect(source, newPath())))
    const { counts, worker } = countingWorker()
    await bench.receive(source)
    await worker.runOnce()
    counts.transactions = 0
    const event = await bench.receive(source)
    await worker.runOnce()
    // The claim, and at most one for each outcome.
    expect(counts.transactions).toBeLessThanOrEqual(6)
    expect(await bench.stores.events.getById(event.eventId)).toMatchObject({
      status: 'delivered',
      counts: { delivered: 5, runnable: 0 },
    })
    for (const connection of connections) {
      expect(await bench.attempts(event, connection)).toHaveLength(1)
      expect(bench.sink.received(new URL(connection.destinationUrl).pathname)).toHaveLength(2)
    }
    expect(await tasksOf(event)).toEqual([])
  })

  test('a slow connection is leased and visible as soon as another one has an outcome, and ends by itself', async () => {
    const source = await bench.newSource()
    const [held, quick] = [heldPath(), newPath()]
    const quickly = await bench.connect(source, quick)
    const { event, ran } = await inProgress(source, held)
    while ((await deliveriesOf(event)).length < 2) await new Promise(setImmediate)
    expect((await deliveriesOf(event)).map(({ state }) => state).toSorted()).toEqual([
      'delivered',
      'runnable',
    ])
    expect(await bench.status(event)).toBe('processing')
    held.respond()
    await ran
    expect(await bench.status(event)).toBe('delivered')
    expect(await bench.attempts(event, quickly)).toHaveLength(1)
    expect(bench.sink.received(held.path)).toHaveLength(1)
  })

  test('an event whose first attempts run is processing, in lists, streams and filters too, and is not replayed, held or cancelled', async () => {
    const source = await bench.newSource()
    const held = heldPath()
    const { event, ran } = await inProgress(source, held)
    const { eventId, sourceId } = event
    const { events, deliveries, deliveryActions, mergeEvents, connections } = bench.stores
    const { connectionId } = required((await connections.listBySource(sourceId))[0])
    expect(await bench.status(event)).toBe('processing')
    expect(await deliveriesOf(event)).toEqual([])
    const forward = await events.listForward(sourceId, { receivedAt: 0 }, { limit: 10 })
    expect(forward.items.map(({ status }) => status)).toEqual(['processing'])
    const listed = async (status: 'processing' | 'received') => {
      const all = { limit: 10, maxExamined: 100, maxLookups: 100 }
      const pages = [
        await events.listBySource(sourceId, { status: [status] }),
        await mergeEvents({ sourceIds: [sourceId], status: [status] }, all),
      ]
      return pages.map(({ items }) => items.map((each) => each.status))
    }
    expect(await listed('processing')).toEqual([['processing'], ['processing']])
    expect(await listed('received')).toEqual([[], []])
    expect(await deliveries.replay(eventId, connectionId)).toEqual({ kind: 'run_open' })
    for (const act of ['attemptNow', 'hold', 'cancel'] as const) {
      expect(await deliveryActions[act]({ eventId, connectionId })).toEqual({ kind: 'in_progress' })
    }
    held.respond()
    await ran
    expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received(held.path)).toHaveLength(1)
    bench.sink.behave(held.path, answer(200))
    expect(await deliveries.replay(eventId, connectionId)).toMatchObject({ kind: 'started' })
  })

  test('of a replay and a worker that meet at a new event, one makes the first attempt, and each request is recorded', async () => {
    for (const filters of [undefined, JSON.stringify([{ path: '$.type', operator: 'exists' }])]) {
      const source = await bench.newSource()
      const path = newPath()
      const connection = await bench.connect(source, path, { ...(filters && { filters }) })
      const received = await Promise.all(times(8, () => bench.receive(source)))
      const replays = received.map(({ eventId }) =>
        bench.stores.deliveries.replay(eventId, connection.connectionId),
      )
      await Promise.all([bench.worker.runOnce(), ...replays])
      await bench.live(8)
      for (const event of received) {
        expect(await bench.status(event)).toBe('delivered')
        const requests = bench.sink
          .received(path)
          .filter(({ headers }) => headers['webhook-id'] === event.eventId)
        expect(await bench.attempts(event, connection)).toHaveLength(requests.length)
      }
    }
  })

  test('a first attempt that fails leaves the delivery and the task of its retry, in one transaction', async () => {
    const source = await bench.newSource()
    const path = newPath()
    bench.sink.behave(path, answer(409))
    const connection = await bench.connect(source, path)
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('retrying')
    expect(await bench.delivery(event, connection)).toMatchObject({
      state: 'retrying',
      attemptsMade: 1,
      nextAttemptAt: expect.any(Number),
    })
    await bench.timers.pass({ seconds: 31 })
    expect(await tasksOf(event)).toMatchObject([{ kind: 'deliver', attemptNumber: 2 }])
  })

  test('a worker that closes returns what it has not started, and finishes what it has', async () => {
    const source = await bench.newSource()
    const [first, second] = [heldPath(), newPath()]
    await bench.connect(source, second, { limits: '{"concurrency":1}' })
    const blocking = heldPath()
    bench.sink.behave(second, (response, received) => {
      if (bench.sink.received(second).length === 1) blocking.respond = () => void response.end()
      else response.end(received.path)
    })
    const worker = bench.anotherWorker()
    const before = await bench.receive(source)
    const ran = worker.runOnce()
    await bench.sink.until(second, 1)
    await bench.connect(source, first.path)
    const event = await bench.receive(source)
    const again = worker.runOnce()
    await bench.sink.until(first.path, 1)
    const closed = worker.close()
    for (const { respond } of [first, blocking]) respond()
    await bench.timers.until(Promise.all([ran, again, closed]))
    await bench.worker.runOnce()
    for (const each of [before, event]) expect(await bench.status(each)).toBe('delivered')
    expect(bench.sink.received(first.path)).toHaveLength(1)
    expect(bench.sink.received(second)).toHaveLength(2)
  })
  test('an event that expired in a backlog is kept while its first attempt runs, and is retried', async () => {
    const source = await bench.newSource()
    const held = heldPath(503)
    await bench.connect(source, held.path)
    const event = await bench.receive(source, { plan: 'free' })
    await bench.timers.pass({ seconds: 86_400 + 3_600 })
    const ran = bench.worker.runOnce()
    await bench.sink.until(held.path, 1)
    const { expiresAt } = required(
      await bench.stored(eventsTable.name, { PK: event.PK, SK: event.SK }),
    )
    expect(expiresAt).toBeGreaterThanOrEqual(expiryForAttempt(bench.clock.now()))
    expect(await bench.status(event)).toBe('processing')
    held.respond()
    await ran
    expect(await bench.status(event)).toBe('retrying')
    bench.sink.behave(held.path, answer(200))
    await bench.live(60)
    expect(await bench.status(event)).toBe('delivered')
    expect(bench.sink.received(held.path)).toHaveLength(2)
  })

  test('an outcome is stored although the response to the write of another one was lost', async () => {
    const source = await bench.newSource()
    const held = heldPath()
    const quick = await bench.connect(source, newPath())
    const slow = await bench.connect(source, held.path)
    const outcomes = { written: 0 }
    const db: typeof bench.db = {
      ...bench.db,
      async transactWriteItems(input) {
        const isOutcome = input.TransactItems.some(({ Put }) =>
          String(Put?.Item['SK']).startsWith('ATT#'),
        )
        if (!isOutcome) return bench.db.transactWriteItems(input)
        outcomes.written += 1
        const isLost = outcomes.written === 1
        const output = await bench.db.transactWriteItems(input)
        if (isLost) throw Object.assign(new Error('lost'), { name: 'TimeoutError' })
        return output
      },
    }
    const worker = bench.anotherWorker({ stores: storesOn(db, bench.clock) })
    const event = await bench.receive(source)
    const ran = worker.runOnce()
    await bench.sink.until(held.path, 1)
    while (outcomes.written < 1) await new Promise(setImmediate)
    held.respond()
    // The quick one is written again after a delay, so this is the slow one.
    while (outcomes.written < 2) await new Promise(setImmediate)
    await bench.timers.until(ran)
    expect(await bench.status(event)).toBe('delivered')
    for (const connection of [quick, slow]) {
      expect(await bench.attempts(event, connection)).toHaveLength(1)
    }
    await bench.live(30)
    expect(bench.sink.received(held.path)).toHaveLength(1)
  })
  test('a delivery whose first outcome is written while it is cancelled is found', async () => {
    const source = await bench.newSource()
    const held = heldPath()
    const { event, ran } = await inProgress(source, held)
    const { eventId, sourceId } = event
    const { connectionId } = required((await bench.stores.connections.listBySource(sourceId))[0])
    let reads = 0
    const db: typeof bench.db = {
      ...bench.db,
      async getItem(input) {
        const output = await bench.db.getItem(input)
        if (String(input.Key['SK']).startsWith('DLV#') && ++reads === 1) {
          held.respond()
          await ran
        }
        return output
      },
    }
    const { deliveryActions } = storesOn(db, bench.clock)
    expect(await deliveryActions.cancel({ eventId, connectionId })).toEqual({ kind: 'run_ended' })
    const connection = { connectionId: newId('conn') }
    expect(await deliveryActions.cancel({ eventId, ...connection })).toEqual({ kind: 'not_found' })
  })
  test('while first attempts run, only connections that are active and older than the event have deliveries', async () => {
    const source = await bench.newSource()
    const held = heldPath()
    const { event, ran } = await inProgress(source, held)
    const { stores, clock } = bench
    clock.advance({ ms: 1_000 })
    const [first] = await stores.connections.listBySource(source.sourceId)
    const { connectionId } = required(first)
    const newer = await bench.connect(source, newPath())
    const user = required(await stores.users.getById(source.userId))
    const caller = { actor: `user:${user.userId}`, sessionId: undefined, keyId: undefined }
    const principal: Principal = { user, permission: 'admin', ...caller }
    const service = createEventService({ stores })
    const cursors = createCursors(new Uint8Array(32))
    const account = createAccountEvents({ stores, cursors, clock })
    const attempted = async () => {
      const { deliveries } = await service.getDetails(principal, event.eventId)
      const listed: string[] = []
      for (const id of [connectionId, newer.connectionId]) {
        const { items } = await account.list(principal, { connectionId: id }, { limit: 10 })
        if (items.length > 0) listed.push(id)
      }
      expect(deliveries.map((delivery) => delivery.connectionId)).toEqual(listed)
      return listed
    }
    expect(await attempted()).toEqual([connectionId])
    const { sourceId } = source
    await stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    expect(await attempted()).toEqual([])
    held.respond()
    await ran
    expect(await attempted()).toEqual([connectionId])
  })
})
