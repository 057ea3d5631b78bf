import { randomBytes } from 'node:crypto'
import { newId } from '@strongroom/kit/ids'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/item.ts'
import type { Delivery } from '../../src/deliveries/item.ts'
import type { Event } from '../../src/events/item.ts'
import type { LeasedTask, WakeUpTask } from '../../src/queue/tasks.ts'
import {
  allDue,
  attemptResult,
  connectionInput,
  deliveryTasksOf,
  eventInput,
  leasedConnection,
  leasedEvent,
  openWorkbench,
  required,
  routeTaskOf,
  targetsOf,
  times,
  type Workbench,
} from '../support/test-stores.ts'

const HOUR = 3_600
const DAY = 24 * HOUR

describe.each(serviceStores())('retention on $name', (store) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench({ store })
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const now = () => Math.floor(bench.clock.now() / 1000)
  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000
  const attempt = () => attemptResult(bench.clock, { statusCode: 503 })

  /** The expiry of everything stored about an event. */
  async function expiries(event: { PK: string; SK: string; eventId: string }) {
    const { Items = [] } = await bench.db.query({
      TableName: 'ferryhook-events',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': `EVT#${event.eventId}` },
      ConsistentRead: true,
    })
    const own = await bench.stored('ferryhook-events', { PK: event.PK, SK: event.SK })
    return new Map([
      ['EVENT', own?.expiresAt],
      ...Items.map((item) => [item.SK, item.expiresAt] as const),
    ])
  }

  async function retry(task: LeasedTask, seconds: number) {
    await stores.settlement.settle(task, {
      state: 'retrying',
      attempt: attempt(),
      nextAt: inSeconds(seconds),
    })
    bench.clock.advance({ seconds })
    const [next] = await deliveryTasksOf(stores, task.eventId)
    return required(await stores.queue.claim(required(next), inSeconds(25)))
  }

  test('a retry within the retention of its event does not change the expiry', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free' })
    const nextAt = inSeconds(DAY - HOUR)
    await stores.settlement.settle(required(tasks[0]), {
      state: 'retrying',
      attempt: attempt(),
      nextAt,
    })
    expect(new Set((await expiries(event)).values())).toEqual(new Set([event.expiresAt]))
  })

  test('a retry beyond the retention of its event extends everything it needs to an hour after it', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free', body: randomBytes(5_000) })
    const task = required(tasks[0])
    const second = await retry(task, 12 * HOUR)
    const nextAt = inSeconds(24 * HOUR)
    await stores.settlement.settle(second, { state: 'retrying', attempt: attempt(), nextAt })
    const { connectionId } = task
    const moved = Math.ceil(nextAt / 1000) + HOUR
    expect(moved).toBeGreaterThan(event.expiresAt)
    expect(await expiries(event)).toEqual(
      new Map(
        [
          'EVENT',
          `ATT#1#${connectionId}#1`,
          `ATT#2#${connectionId}#1`,
          'BODY',
          `DLV#${connectionId}`,
        ].map((name) => [name, moved]),
      ),
    )
    bench.clock.advance({ seconds: 24 * HOUR })
    expect(await stores.events.getById(event.eventId)).toMatchObject({ status: 'retrying' })
    expect(await stores.events.getBody(event)).not.toBeNull()
    expect(await stores.attempts.listByEvent(event.eventId)).toHaveLength(2)
  })

  test('all eight attempts of the default schedule are made on the shortest plan and visible at the end', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free', body: randomBytes(5_000) })
    let task = required(tasks[0])
    for (const delay of [30, 120, 900, 3_600, 14_400, 43_200, 86_400])
      task = await retry(task, delay)
    expect(task.attemptNumber).toBe(8)
    await stores.settlement.settle(task, {
      state: 'failed',
      attempt: attempt(),
      reason: 'exhausted',
    })
    expect(await stores.events.getById(event.eventId)).toMatchObject({ status: 'failed' })
    expect(await stores.attempts.listByEvent(event.eventId)).toHaveLength(8)
  })

  test('an expiry is never shortened', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free', connections: 2 })
    const [far, near] = [required(tasks[0]), required(tasks[1])]
    await stores.settlement.settle(far, {
      state: 'retrying',
      attempt: attempt(),
      nextAt: inSeconds(5 * DAY),
    })
    const until = required(await stores.events.getById(event.eventId)).expiresAt
    await stores.settlement.settle(near, {
      state: 'retrying',
      attempt: attempt(),
      nextAt: inSeconds(2 * DAY),
    })
    const after = await expiries(event)
    expect(new Set(after.values())).toEqual(new Set([until]))
  })

  test('a parked delivery retains its event for thirty days', async () => {
    const { connection, event, task } = await leasedConnection(bench, { plan: 'free' })
    const parkedAt = bench.clock.now()
    await stores.parking.park(task, connection, { reason: 'paused' })
    const until = Math.ceil(parkedAt / 1000) + 30 * DAY
    expect(new Set((await expiries(event)).values())).toEqual(new Set([until]))
    const { connectionId, sourceId } = connection
    const active = await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ days: 3 })
    const { tasks } = await stores.queue.listDue(await stores.shards.shardFor(connectionId), {
      limit: 1000,
    })
    const wake = tasks.find((each) => each.kind === 'wake' && each.connectionId === connectionId)
    if (wake?.kind !== 'wake') throw new Error('Expected a wake')
    await stores.wakeUps.wakeUp(wake, { limit: 1, nextWakeAt: inSeconds(5) })
    const [due] = await deliveryTasksOf(stores, event.eventId)
    const leased = required(await stores.queue.claim(required(due), inSeconds(25)))
    await stores.parking.park(leased, active, { reason: 'limit', wakeAt: inSeconds(5) })
    expect((await expiries(event)).get('EVENT')).toBe(until)
    expect(await stores.wakeUps.listParked(connectionId)).toMatchObject([{ parkedAt }])
  })

  test('a delivery that is parked for thirty days fails with the reason retention, an hour before it expires', async () => {
    const { connection, event, task } = await leasedConnection(bench, { plan: 'starter' })
    const { connectionId } = connection
    await stores.parking.park(task, connection, { reason: 'paused' })
    bench.clock.advance({ seconds: 30 * DAY - HOUR - 1 })
    expect(await stores.wakeUps.failExpired(connectionId)).toEqual({ failed: 0, missing: 0 })
    bench.clock.advance({ seconds: 1 })
    expect(await stores.wakeUps.failExpired(connectionId)).toEqual({ failed: 1, missing: 0 })
    expect(await stores.wakeUps.failExpired(connectionId)).toEqual({ failed: 0, missing: 0 })
    expect(await stores.events.getById(event.eventId)).toMatchObject({ status: 'failed' })
    expect(await stores.deliveries.get(event.eventId, connectionId)).toMatchObject({
      state: 'failed',
      reason: 'retention',
    })
    expect(await stores.wakeUps.listParked(connectionId)).toEqual([])
  })

  test('held deliveries share one wake-up, in time for them to fail and be seen before they expire', async () => {
    const { connection, task, lease } = await leasedConnection(bench, { plan: 'starter' })
    const { connectionId } = connection
    const second = await lease()
    bench.clock.advance({ ms: 1_800_000 - (bench.clock.now() % 1_800_000) - 10_000 })
    await stores.parking.park(task, connection, { reason: 'paused' })
    bench.clock.advance({ seconds: 9 })
    await stores.parking.park(second.task, connection, { reason: 'paused' })
    const wakes = async () => {
      const shard = await stores.shards.shardFor(connectionId)
      const { tasks } = await stores.queue.listDue(shard, { limit: 1000 })
      return tasks.filter((each) => each.kind === 'wake' && each.connectionId === connectionId)
    }
    bench.clock.advance({ seconds: 30 * DAY - HOUR - 9 })
    expect(await wakes()).toEqual([])
    bench.clock.advance({ seconds: HOUR / 2 })
    expect(await wakes()).toHaveLength(1)
    expect(await stores.wakeUps.failExpired(connectionId)).toEqual({ failed: 2, missing: 0 })
  })

  test('all deliveries that are parked for thirty days fail, even more than one read returns', async () => {
    const { connection, task, lease } = await leasedConnection(bench, { plan: 'starter' })
    const { connectionId } = connection
    await stores.parking.park(task, connection, { reason: 'paused' })
    const key = { PK: `WAIT#${connectionId}`, SK: `${bench.clock.now()}#${task.eventId}` }
    const waiting = required(await bench.stored('ferryhook-events', key))
    // Their events are deleted, so they only leave the queue.
    for (let n = 0; n < 120; n++) {
      const eventId = newId('evt')
      const SK = `${bench.clock.now()}#${eventId}`
      const Item = { ...waiting, SK, eventId }
      await bench.db.putItem({ TableName: 'ferryhook-events', Item })
    }
    bench.clock.advance({ seconds: 30 * DAY - HOUR })
    const young = await lease()
    await stores.parking.park(young.task, connection, { reason: 'paused' })
    expect(await stores.wakeUps.failExpired(connectionId)).toEqual({ failed: 1, missing: 120 })
    expect(await stores.wakeUps.listParked(connectionId)).toMatchObject([
      { eventId: young.event.eventId },
    ])
  })

  test('a replay just before the expiry retains the event for one more hour', async () => {
    const { event, tasks } = await leasedEvent(bench, { plan: 'free' })
    const task = required(tasks[0])
    await stores.settlement.settle(task, {
      state: 'failed',
      attempt: attempt(),
      reason: 'exhausted',
    })
    bench.clock.advance({ seconds: DAY - 60 })
    await stores.deliveries.replay(event.eventId, task.connectionId)
    expect(new Set((await expiries(event)).values())).toEqual(new Set([now() + HOUR]))
  })

  test('a delivery that TTL deleted while another one retained the event still finishes', async () => {
    const { connection, event, task } = await leasedConnection(bench, { plan: 'free' })
    const { connectionId, sourceId } = connection
    const { eventId } = event
    await stores.parking.park(task, connection, { reason: 'paused' })
    bench.clock.advance({ seconds: 20 * DAY })
    const other = await stores.connections.create(connectionInput({ sourceId }))
    await stores.deliveries.replay(eventId, other.connectionId)
    const [due] = await deliveryTasksOf(stores, eventId)
    const leasedOther = required(await stores.queue.claim(required(due), inSeconds(25)))
    await stores.parking.park(leasedOther, other, { reason: 'paused' })
    bench.clock.advance({ seconds: 11 * DAY })
    const deleted = { PK: `EVT#${eventId}`, SK: `DLV#${connectionId}` }
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: deleted })

    await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    const wake = (await allDue(stores)).find(
      (each) => each.kind === 'wake' && each.connectionId === connectionId,
    ) as WakeUpTask
    expect(await stores.wakeUps.wakeUp(wake, { limit: 10, nextWakeAt: inSeconds(1) })).toEqual({
      released: 1,
      missing: 0,
      hasMore: false,
    })
    const [released] = await deliveryTasksOf(stores, eventId)
    const leased = required(await stores.queue.claim(required(released), inSeconds(25)))
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: deleted })
    await stores.settlement.settle(leased, { state: 'delivered', attempt: attempt() })

    expect(await stores.deliveries.get(eventId, connectionId)).toMatchObject({
      state: 'delivered',
      run: 1,
      attemptsMade: 1,
    })
    expect(await stores.events.getById(eventId)).toMatchObject({
      status: 'held',
      counts: { held: 1, delivered: 1, runnable: 0 },
    })
  })

  describe('a task whose delivery TTL deleted and a replay replaced', () => {
    /** The event is retained by its other delivery. */
    async function replacedAfter(before: (task: LeasedTask, connection: Connection) => unknown) {
      const { connection, event, task } = await leasedConnection(bench, { plan: 'free' })
      const { connectionId, sourceId } = connection
      const { eventId } = event
      await before(task, connection)
      const other = await stores.connections.create(connectionInput({ sourceId }))
      await stores.deliveries.replay(eventId, other.connectionId)
      const due = await deliveryTasksOf(stores, eventId)
      const kept = required(due.find((each) => each.connectionId === other.connectionId))
      await stores.parking.park(kept, other, { reason: 'paused' })
      const Key = { PK: `EVT#${eventId}`, SK: `DLV#${connectionId}` }
      await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
      await stores.deliveries.replay(eventId, connectionId)
      const replay = required(await stores.deliveries.get(eventId, connectionId))
      expect(replay).toMatchObject({ run: 1, state: 'runnable' })
      return { connection, event, task, replay }
    }

    /** Only the replay remains, and it finishes. */
    async function expectReplayOnly({ event, replay }: { event: Event; replay: Delivery }) {
      const { eventId } = event
      expect(await stores.deliveries.get(eventId, replay.connectionId)).toEqual(replay)
      const [due, ...more] = await deliveryTasksOf(stores, eventId)
      expect(due).toMatchObject({ replayId: replay.replayId })
      expect(more).toEqual([])
      const delivered = { state: 'delivered', attempt: attempt() } as const
      await stores.settlement.settle(required(due), delivered)
      expect(await stores.events.getById(eventId)).toMatchObject({
        counts: { held: 1, delivered: 1, runnable: 0, retrying: 0 },
      })
    }

    test('ends when it is settled, and changes nothing', async () => {
      const found = await replacedAfter(() => {})
      const settled = await stores.settlement.settle(found.task, {
        state: 'delivered',
        attempt: attempt(),
      })
      expect(settled).toBe('run_replaced')
      await expectReplayOnly(found)
    })

    test('ends when it is parked, and changes nothing', async () => {
      const found = await replacedAfter(() => {})
      const parked = await stores.parking.park(found.task, found.connection, { reason: 'paused' })
      expect(parked).toEqual({ kind: 'run_replaced' })
      expect(await stores.wakeUps.listParked(found.connection.connectionId)).toEqual([])
      await expectReplayOnly(found)
    })

    test('ends when it is released, and does not block other releases', async () => {
      const found = await replacedAfter((task, connection) =>
        stores.parking.park(task, connection, { reason: 'paused' }),
      )
      const { connectionId, sourceId } = found.connection
      await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
      bench.clock.advance({ seconds: 5 })
      const wake = (await allDue(stores)).find(
        (each) => each.kind === 'wake' && each.connectionId === connectionId,
      ) as WakeUpTask
      const woken = await stores.wakeUps.wakeUp(wake, { limit: 10, nextWakeAt: inSeconds(1) })
      expect(woken).toEqual({ released: 0, missing: 0, hasMore: false })
      await expectReplayOnly(found)
    })
  })

  test('routing of an event that TTL is deleting ends, however many connections there are', async () => {
    const { eventId } = await stores.events.create(eventInput({ plan: 'free' }))
    const task = await routeTaskOf(stores, eventId)
    bench.clock.advance({ seconds: DAY })
    const Key = { PK: `EVT#${eventId}`, SK: 'BODY' }
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key })
    const connectionIds = times(50, () => newId('conn'))
    expect(await stores.routing.route(task, targetsOf(connectionIds))).toEqual({
      tasks: [],
      event: undefined,
    })
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })
})
