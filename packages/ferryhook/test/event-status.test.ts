import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { derivedStatus, noDeliveries } from '../src/items/delivery-state.ts'
import type { Outcome } from '../src/db/settling.ts'
import type { LeasedTask } from '../src/items/task.ts'
import {
  attemptResult,
  deliveryTasksOf,
  eventInput,
  leasedEvent,
  openWorkbench,
  outcomes,
  required,
  routeTaskOf,
  targetsOf,
  serviceWorlds,
  times,
  type Workbench,
} from './workbench.ts'

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
  let layer: Workbench['layer']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    layer = bench.layer
  })
  afterAll(() => bench.close())

  const attempt = (statusCode = 200) => attemptResult(bench.clock, { statusCode })
  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000
  const outcome = (index: number): Outcome => {
    if (index % 3 === 0) return { state: 'delivered', attempt: attempt() }
    if (index % 3 === 1) return { state: 'failed', attempt: attempt(500), reason: 'exhausted' }
    return { state: 'filtered', reason: 'no_match' }
  }

  test('counts exactly what twenty workers settle at once', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 20 })
    expect(await layer.events.getCurrent(event.eventId)).toMatchObject({
      status: 'processing',
      counts: { runnable: 20 },
      processedAt: bench.clock.now(),
    })
    await Promise.all(
      tasks.map((task, index) => layer.settling.settle(task, outcome(index), event)),
    )
    expect(await layer.events.getCurrent(event.eventId)).toMatchObject({
      status: 'failed',
      counts: { ...noDeliveries, delivered: 7, failed: 7, filtered: 6 },
      rev: 21,
      deliveredAt: bench.clock.now(),
    })
    expect(await layer.attempts.listByEvent(event.eventId)).toHaveLength(14)
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

  test('an event goes through processing and retrying to delivered, with the times of its first claim and last delivery', async () => {
    const event = await layer.events.create(eventInput())
    const { eventId } = event
    await layer.routing.route(await routeTaskOf(layer, eventId), targetsOf([newId('conn')]))
    const status = async () => required(await layer.events.getCurrent(eventId))
    expect(await status()).toMatchObject({ status: 'processing' })
    expect(await status()).not.toHaveProperty('processedAt')

    bench.clock.advance({ seconds: 2 })
    const claimedAt = bench.clock.now()
    const [first] = await deliveryTasksOf(layer, eventId)
    const leased = required(await layer.dueWork.claim(required(first), inSeconds(25)))
    bench.clock.advance({ seconds: 3 })
    const nextAt = inSeconds(30)
    await layer.settling.settle(leased, { state: 'retrying', attempt: attempt(503), nextAt })
    expect(await status()).toMatchObject({ status: 'retrying', processedAt: claimedAt })

    bench.clock.advance({ seconds: 30 })
    const [second] = await deliveryTasksOf(layer, eventId)
    const again = required(await layer.dueWork.claim(required(second), inSeconds(25)))
    await layer.settling.settle(again, { state: 'delivered', attempt: attempt() })
    expect(await status()).toMatchObject({
      status: 'delivered',
      processedAt: claimedAt,
      deliveredAt: bench.clock.now(),
      counts: { ...noDeliveries, delivered: 1 },
    })
    expect(await layer.deliveries.listByEvent(eventId)).toMatchObject([
      { state: 'delivered', attemptsMade: 2, run: 1 },
    ])
  })

  test('an event without a connection is unrouted, and its routing ends', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const task = await routeTaskOf(layer, eventId)
    await layer.routing.route(task, [], { unrouted: 'no_connections' })
    expect(await layer.events.getCurrent(eventId)).toMatchObject({
      status: 'unrouted',
      reason: 'no_connections',
    })
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('an event that is filtered from all connections but one says so of each, and only that one has a task', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const [kept, first, second] = times(3, () => newId('conn'))
    const targets = [
      { connectionId: required(first), filtered: 'type is not invoice.paid' },
      { connectionId: required(kept) },
      { connectionId: required(second), filtered: 'type is not invoice.paid' },
    ]
    const { tasks } = await layer.routing.route(await routeTaskOf(layer, eventId), targets, {
      leaseUntil: inSeconds(25),
    })
    expect(tasks.map(({ connectionId }) => connectionId)).toEqual([kept])
    expect(await layer.events.getCurrent(eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1, filtered: 2 },
    })
    expect(await layer.deliveries.get(eventId, required(first))).toMatchObject({
      state: 'filtered',
      reason: 'type is not invoice.paid',
      attemptsMade: 0,
    })
    const attempted = { state: 'delivered', attempt: attempt() } as const
    const after = await layer.settling.settle(tasks[0] as LeasedTask, attempted)
    expect(after).toMatchObject({ status: 'delivered' })
    expect(await layer.events.getCurrent(eventId)).toEqual(after)
  })

  test('an event that every connection filters is filtered', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const task = await routeTaskOf(layer, eventId)
    await layer.routing.route(task, [{ connectionId: newId('conn'), filtered: 'not wanted' }])
    expect(await layer.events.getCurrent(eventId)).toMatchObject({ status: 'filtered' })
    expect(await deliveryTasksOf(layer, eventId)).toEqual([])
  })

  test("a first attempt that is to come later is due then, is nobody's until then, and the event is kept for it", async () => {
    const { eventId } = await layer.events.create(eventInput({ plan: 'free' }))
    const dueAt = inSeconds(2 * 86_400)
    const target = { connectionId: newId('conn'), dueAt }
    await layer.routing.route(await routeTaskOf(layer, eventId), [target], {
      leaseUntil: inSeconds(25),
    })
    bench.clock.advance({ ms: dueAt - 1 - bench.clock.now() })
    expect(await deliveryTasksOf(layer, eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const [task] = await deliveryTasksOf(layer, eventId)
    expect(task).toMatchObject({ dueAt, keptUntil: dueAt / 1000 + 3_600 })
    expect(task).not.toHaveProperty('leaseId')
    expect(await layer.events.getCurrent(eventId)).toMatchObject({
      status: 'processing',
      expiresAt: dueAt / 1000 + 3_600,
    })
  })

  test('whoever routes with the event at hand is given it as it is now, also if what they had was old', async () => {
    const known = await layer.events.create(eventInput())
    const { eventId } = known
    const task = await routeTaskOf(layer, eventId)
    const routed = await layer.routing.route(task, [{ connectionId: newId('conn') }], { known })
    expect(routed.event).toEqual(await layer.events.getCurrent(eventId))
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: { ...task } })
    const again = await layer.routing.route(task, [{ connectionId: newId('conn') }], { known })
    expect(again.event).toEqual(await layer.events.getCurrent(eventId))
    expect(again.event).toMatchObject({ counts: { runnable: 2 } })
  })

  test('many workers that route one event at once make each delivery once', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const task = await routeTaskOf(layer, eventId)
    const connectionIds = times(50, () => newId('conn'))
    const routed = await Promise.all(
      times(6, () => layer.routing.route(task, targetsOf(connectionIds))),
    )
    expect(
      routed
        .flatMap(({ tasks }) => tasks)
        .map(({ connectionId }) => connectionId)
        .toSorted(),
    ).toEqual(connectionIds.toSorted())
    expect(await layer.events.getCurrent(eventId)).toMatchObject({ counts: { runnable: 50 } })
    expect(await deliveryTasksOf(layer, eventId)).toHaveLength(50)
    expect(await layer.deliveries.listByEvent(eventId)).toHaveLength(50)
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('a routing that crashed half-way is finished by the next worker without doubling anything', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const task = await routeTaskOf(layer, eventId)
    const connectionIds = times(3, () => newId('conn'))
    await layer.routing.route(task, targetsOf(connectionIds.slice(0, 2)))
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: { ...task } })
    const again = await routeTaskOf(layer, eventId)
    const { tasks: rest } = await layer.routing.route(again, targetsOf(connectionIds))
    expect(rest.map(({ connectionId }) => connectionId)).toEqual(connectionIds.slice(2))
    expect(await layer.events.getCurrent(eventId)).toMatchObject({ counts: { runnable: 3 } })
  })

  test('of twenty replays at once one opens a run, and none while it is open', async () => {
    const { event, tasks } = await leasedEvent(bench, { connections: 2 })
    const { eventId } = event
    const [replayed, other] = [required(tasks[0]), required(tasks[1])]
    await layer.settling.settle(replayed, {
      state: 'failed',
      attempt: attempt(500),
      reason: 'exhausted',
    })
    await layer.settling.settle(other, { state: 'delivered', attempt: attempt() })
    const replay = () => layer.deliveries.replay(eventId, replayed.connectionId)
    const ends = await outcomes(times(20, replay))
    expect(ends.filter((end) => end === 'run_open')).toHaveLength(19)
    expect(ends.filter((end) => typeof end !== 'string')).toMatchObject([
      { run: 2, attemptsMade: 0 },
    ])
    expect(await layer.events.getCurrent(eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1, delivered: 1 },
    })
    expect(await deliveryTasksOf(layer, eventId)).toMatchObject([{ run: 2, attemptNumber: 1 }])
  })

  test('a replay to a connection that was not there then makes its first delivery', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const delivery = await layer.deliveries.replay(eventId, newId('conn'))
    expect(delivery).toMatchObject({ run: 1, state: 'runnable', replayId: expect.any(String) })
    expect(await layer.events.getCurrent(eventId)).toMatchObject({ status: 'processing' })
    expect(await outcomes([layer.deliveries.replay(newId('evt'), newId('conn'))])).toEqual([
      'not_found',
    ])
  })

  test('an event that failed verification is replayed only if somebody vouches for it, each time', async () => {
    const { eventId } = await layer.events.create(eventInput({ status: 'signature_failed' }))
    const [first, second] = [newId('conn'), newId('conn')]
    expect(await outcomes([layer.deliveries.replay(eventId, first)])).toEqual(['unverified'])
    await layer.deliveries.replay(eventId, first, { acceptUnverified: true })
    expect(await layer.events.getCurrent(eventId)).toMatchObject({ status: 'processing' })
    expect(await outcomes([layer.deliveries.replay(eventId, second)])).toEqual(['unverified'])
  })

  test('a replay that goes on after a crash does not replay twice what it has begun', async () => {
    const { eventId } = await layer.events.create(eventInput())
    const [connectionId, replayId] = [newId('conn'), newId('rpl')]
    await layer.deliveries.replay(eventId, connectionId, { replayId })
    const [task] = await deliveryTasksOf(layer, eventId)
    const leased = required(await layer.dueWork.claim(required(task), bench.clock.now() + 25_000))
    await layer.settling.settle(leased, { state: 'delivered', attempt: attemptResult(bench.clock) })
    const again = await layer.deliveries.replay(eventId, connectionId, { replayId })
    expect(again).toMatchObject({ run: 1, state: 'delivered' })
    expect(await deliveryTasksOf(layer, eventId)).toEqual([])
  })

  test('a status that deliveries decide cannot be set against them', async () => {
    const { event } = await leasedEvent(bench)
    expect(await outcomes([layer.events.updateStatus(event.eventId, 'delivered')])).toEqual([
      'status_derived',
    ])
    await layer.events.updateStatus(event.eventId, 'processing')
  })
})
