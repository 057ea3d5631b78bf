import type { Item } from '@strongroom/kit/db'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { derivedStatus, noDeliveries } from '../../src/deliveries/state.ts'
import type { AttemptOutcome } from '../../src/deliveries/settlement.ts'
import type { LeasedTask } from '../../src/queue/tasks.ts'
import {
  attemptResult,
  deliveryTasksOf,
  eventInput,
  leasedEvent,
  openWorkbench,
  required,
  routeTaskOf,
  targetsOf,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe('the status of an event', () => {
  test.each([
    [{ retrying: 1, runnable: 1, held: 1, failed: 1, delivered: 1 }, 'retrying'],
    [{ runnable: 1, held: 1, failed: 1, delivered: 1 }, 'processing'],
    [{ held: 1, failed: 1, delivered: 1, filtered: 1 }, 'held'],
    [{ failed: 1, delivered: 1, filtered: 1 }, 'failed'],
    [{ delivered: 1, filtered: 1 }, 'delivered'],
    [{ filtered: 2 }, 'filtered'],
    [{}, undefined],
  ])('follows from its deliveries: %j is %s', (counts, status) => {
    expect(derivedStatus({ ...noDeliveries, ...counts })).toBe(status)
  })
})

describe.each(serviceWorlds())('events and their deliveries on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const attempt = (statusCode = 200) => attemptResult(bench.clock, { statusCode })
  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000
  const outcome = (index: number): AttemptOutcome => {
    if (index % 3 === 0) return { state: 'delivered', attempt: attempt() }
    if (index % 3 === 1) return { state: 'failed', attempt: attempt(500), reason: 'exhausted' }
    return { state: 'filtered', reason: 'no_match' }
  }

  test('counts exactly what twenty concurrent workers settle', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 20 })
    expect(await stores.events.getById(event.eventId)).toMatchObject({
      status: 'processing',
      counts: { runnable: 20 },
      processedAt: bench.clock.now(),
    })
    await Promise.all(
      tasks.map((task, index) => stores.settlement.settle(task, outcome(index), event)),
    )
    expect(await stores.events.getById(event.eventId)).toMatchObject({
      status: 'failed',
      counts: { ...noDeliveries, delivered: 7, failed: 7, filtered: 6 },
      rev: 21,
      deliveredAt: bench.clock.now(),
    })
    expect(await stores.attempts.listByEvent(event.eventId)).toHaveLength(14)
  })

  test('a delivery item is stored with its run, state and the expiry of its event', async () => {
    const { event, tasks } = await leasedEvent(bench)
    const { connectionId } = required(tasks[0])
    const { eventId, sourceId, userId, receivedAt, expiresAt } = event
    const key = { PK: `EVT#${eventId}`, SK: `DLV#${connectionId}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      eventId,
      connectionId,
      sourceId,
      userId,
      receivedAt,
      run: 1,
      state: 'runnable',
      attemptsMade: 0,
      updatedAt: bench.clock.now(),
      expiresAt,
    })
  })

  test('an event passes from processing and retrying to delivered, with the times of its first claim and last delivery', async () => {
    const event = await stores.events.create(eventInput())
    const { eventId } = event
    await stores.routing.route(await routeTaskOf(stores, eventId), targetsOf([newId('conn')]))
    const status = async () => required(await stores.events.getById(eventId))
    expect(await status()).toMatchObject({ status: 'processing' })
    expect(await status()).not.toHaveProperty('processedAt')

    bench.clock.advance({ seconds: 2 })
    const claimedAt = bench.clock.now()
    const [first] = await deliveryTasksOf(stores, eventId)
    const leased = required(await stores.queue.claim(required(first), inSeconds(25)))
    bench.clock.advance({ seconds: 3 })
    const nextAt = inSeconds(30)
    await stores.settlement.settle(leased, { state: 'retrying', attempt: attempt(503), nextAt })
    expect(await status()).toMatchObject({ status: 'retrying', processedAt: claimedAt })

    bench.clock.advance({ seconds: 30 })
    const [second] = await deliveryTasksOf(stores, eventId)
    const again = required(await stores.queue.claim(required(second), inSeconds(25)))
    await stores.settlement.settle(again, { state: 'delivered', attempt: attempt() })
    expect(await status()).toMatchObject({
      status: 'delivered',
      processedAt: claimedAt,
      deliveredAt: bench.clock.now(),
      counts: { ...noDeliveries, delivered: 1 },
    })
    expect(await stores.deliveries.listByEvent(eventId)).toMatchObject([
      { state: 'delivered', attemptsMade: 2, run: 1 },
    ])
  })

  test('an event records the attempt that explains its status, which no success of another connection hides', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 2 })
    const [first, second] = [required(tasks[0]), required(tasks[1])]
    const { PK, SK } = event
    const stored = async () => (await bench.stored('ferryhook-events', { PK, SK }))?.['lastAttempt']
    const common = { number: 1, maxAttempts: 8, latencyMs: 12, attemptedAt: bench.clock.now() }
    const refused = { connectionId: first.connectionId, statusCode: 500, outcome: 'http_error' }
    const accepted = { statusCode: 200, outcome: 'delivered' }
    expect(await stored()).toBeUndefined()
    const failed = { state: 'failed', attempt: attempt(500), reason: 'exhausted' } as const
    await stores.settlement.settle(first, failed)
    expect(await stored()).toEqual({ ...common, ...refused })
    await stores.settlement.settle(second, { state: 'delivered', attempt: attempt() })
    expect(await stored()).toEqual({ ...common, ...refused })
    await stores.deliveries.replay(event.eventId, first.connectionId)
    const [again] = await deliveryTasksOf(stores, event.eventId)
    const leased = required(await stores.queue.claim(required(again), inSeconds(25)))
    await stores.settlement.settle(leased, { state: 'delivered', attempt: attempt() })
    const { connectionId } = first
    const attemptedAt = bench.clock.now()
    expect(await stored()).toEqual({ ...common, connectionId, ...accepted, attemptedAt })
  })

  test('an event without a connection is unrouted, and its routing ends', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const task = await routeTaskOf(stores, eventId)
    await stores.routing.route(task, [], { unrouted: 'no_connections' })
    expect(await stores.events.getById(eventId)).toMatchObject({
      status: 'unrouted',
      reason: 'no_connections',
    })
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('an event that all connections but one filter shows each reason, and only that one has a task', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const [kept, first, second] = times(3, () => newId('conn'))
    const targets = [
      { connectionId: required(first), filtered: 'type is not invoice.paid' },
      { connectionId: required(kept) },
      { connectionId: required(second), filtered: 'type is not invoice.paid' },
    ]
    const { tasks } = await stores.routing.route(await routeTaskOf(stores, eventId), targets, {
      leaseUntil: inSeconds(25),
    })
    expect(tasks.map(({ connectionId }) => connectionId)).toEqual([kept])
    expect(await stores.events.getById(eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1, filtered: 2 },
    })
    expect(await stores.deliveries.get(eventId, required(first))).toMatchObject({
      state: 'filtered',
      reason: 'type is not invoice.paid',
      attemptsMade: 0,
    })
    const attempted = { state: 'delivered', attempt: attempt() } as const
    const settling = { task: tasks[0] as LeasedTask, outcome: attempted }
    const { results, event } = await stores.settlement.settleAll([settling])
    expect(results).toEqual(['settled'])
    expect(event).toMatchObject({ status: 'delivered' })
    expect(event).toEqual(await stores.events.getById(eventId))
  })

  test('an event that every connection filters is filtered', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const task = await routeTaskOf(stores, eventId)
    await stores.routing.route(task, [{ connectionId: newId('conn'), filtered: 'not wanted' }])
    expect(await stores.events.getById(eventId)).toMatchObject({ status: 'filtered' })
    expect(await deliveryTasksOf(stores, eventId)).toEqual([])
  })

  test('a delayed first attempt is due at its time, is not leased until then, and retains the event', async () => {
    const { eventId } = await stores.events.create(eventInput({ plan: 'free' }))
    const dueAt = inSeconds(2 * 86_400)
    const target = { connectionId: newId('conn'), dueAt }
    await stores.routing.route(await routeTaskOf(stores, eventId), [target], {
      leaseUntil: inSeconds(25),
    })
    bench.clock.advance({ ms: dueAt - 1 - bench.clock.now() })
    expect(await deliveryTasksOf(stores, eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const [task] = await deliveryTasksOf(stores, eventId)
    expect(task).toMatchObject({ dueAt, keptUntil: dueAt / 1000 + 3_600 })
    expect(task).not.toHaveProperty('leaseId')
    expect(await stores.events.getById(eventId)).toMatchObject({
      status: 'processing',
      expiresAt: dueAt / 1000 + 3_600,
    })
  })

  test('routing with a loaded event returns the current event, even if the loaded one is stale', async () => {
    const event = await stores.events.create(eventInput())
    const { eventId } = event
    const task = await routeTaskOf(stores, eventId)
    const routed = await stores.routing.route(task, [{ connectionId: newId('conn') }], { event })
    expect(routed.event).toEqual(await stores.events.getById(eventId))
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: { ...task } as Item })
    const again = await stores.routing.route(task, [{ connectionId: newId('conn') }], { event })
    expect(again.event).toEqual(await stores.events.getById(eventId))
    expect(again.event).toMatchObject({ counts: { runnable: 2 } })
  })

  test('many workers that route one event concurrently create each delivery once', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const task = await routeTaskOf(stores, eventId)
    const connectionIds = times(50, () => newId('conn'))
    const routed = await Promise.all(
      times(6, () => stores.routing.route(task, targetsOf(connectionIds))),
    )
    expect(
      routed
        .flatMap(({ tasks }) => tasks)
        .map(({ connectionId }) => connectionId)
        .toSorted(),
    ).toEqual(connectionIds.toSorted())
    expect(await stores.events.getById(eventId)).toMatchObject({ counts: { runnable: 50 } })
    expect(await deliveryTasksOf(stores, eventId)).toHaveLength(50)
    expect(await stores.deliveries.listByEvent(eventId)).toHaveLength(50)
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('a routing that crashed half-way is finished by the next worker without duplicates', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const task = await routeTaskOf(stores, eventId)
    const connectionIds = times(3, () => newId('conn'))
    await stores.routing.route(task, targetsOf(connectionIds.slice(0, 2)))
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: { ...task } as Item })
    const again = await routeTaskOf(stores, eventId)
    const { tasks: rest } = await stores.routing.route(again, targetsOf(connectionIds))
    expect(rest.map(({ connectionId }) => connectionId)).toEqual(connectionIds.slice(2))
    expect(await stores.events.getById(eventId)).toMatchObject({ counts: { runnable: 3 } })
  })

  test('one of twenty concurrent replays starts a run, and none while it is pending', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 2 })
    const { eventId } = event
    const [replayed, other] = [required(tasks[0]), required(tasks[1])]
    await stores.settlement.settle(replayed, {
      state: 'failed',
      attempt: attempt(500),
      reason: 'exhausted',
    })
    await stores.settlement.settle(other, { state: 'delivered', attempt: attempt() })
    const replay = () => stores.deliveries.replay(eventId, replayed.connectionId)
    const results = await Promise.all(times(20, replay))
    expect(results.filter(({ kind }) => kind === 'run_open')).toHaveLength(19)
    expect(results.filter(({ kind }) => kind !== 'run_open')).toMatchObject([
      { kind: 'started', delivery: { run: 2, attemptsMade: 0 } },
    ])
    expect(await stores.events.getById(eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1, delivered: 1 },
    })
    expect(await deliveryTasksOf(stores, eventId)).toMatchObject([{ run: 2, attemptNumber: 1 }])
  })

  test('a replay to a newer connection creates its first delivery', async () => {
    const { eventId } = await stores.events.create(eventInput())
    expect(await stores.deliveries.replay(eventId, newId('conn'))).toMatchObject({
      delivery: { run: 1, state: 'runnable', replayId: expect.any(String) },
    })
    expect(await stores.events.getById(eventId)).toMatchObject({ status: 'processing' })
    const missing = await stores.deliveries.replay(newId('evt'), newId('conn'))
    expect(missing).toEqual({ kind: 'not_found' })
  })

  test('an event that failed verification is replayed only if that is accepted explicitly, each time', async () => {
    const { eventId } = await stores.events.create(eventInput({ status: 'signature_failed' }))
    const [first, second] = [newId('conn'), newId('conn')]
    expect(await stores.deliveries.replay(eventId, first)).toEqual({ kind: 'unverified' })
    await stores.deliveries.replay(eventId, first, { acceptUnverified: true })
    expect(await stores.events.getById(eventId)).toMatchObject({ status: 'processing' })
    expect(await stores.deliveries.replay(eventId, second)).toEqual({ kind: 'unverified' })
  })

  test('a replay that continues after a crash does not repeat started deliveries', async () => {
    const { eventId } = await stores.events.create(eventInput())
    const [connectionId, replayId] = [newId('conn'), newId('rpl')]
    await stores.deliveries.replay(eventId, connectionId, { replayId })
    const [task] = await deliveryTasksOf(stores, eventId)
    const leased = required(await stores.queue.claim(required(task), bench.clock.now() + 25_000))
    await stores.settlement.settle(leased, {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
    expect(await stores.deliveries.replay(eventId, connectionId, { replayId })).toMatchObject({
      delivery: { run: 1, state: 'delivered' },
    })
    expect(await deliveryTasksOf(stores, eventId)).toEqual([])
  })

  test('a status that contradicts the deliveries is rejected', async () => {
    const { event } = await leasedEvent(bench)
    const current = required(await stores.events.getById(event.eventId))
    expect(() => stores.events.updateStatus(current, { status: 'delivered' })).toThrow(
      'status_derived',
    )
    const { after } = stores.events.updateStatus(current, { status: 'processing' })
    expect(after.status).toBe('processing')
  })
})
