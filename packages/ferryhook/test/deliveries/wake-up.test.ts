import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextStep, shardOf } from '../../src/queue/shards.ts'
import { noDeliveries } from '../../src/deliveries/state.ts'
import type { LeasedTask, WakeUpTask } from '../../src/queue/tasks.ts'
import {
  allDue,
  attemptResult,
  deliveryTasksOf,
  leasedConnection,
  openWorkbench,
  outcomes,
  required,
  serviceWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(serviceWorlds())('parked deliveries on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000
  const status = async (eventId: string) => required(await stores.events.getById(eventId))

  async function wakesOf(connectionId: string): Promise<WakeUpTask[]> {
    const due = await allDue(stores)
    return due
      .filter((task) => task.kind === 'wake')
      .filter((task) => task.connectionId === connectionId)
  }

  async function claimOnly(eventId: string): Promise<LeasedTask> {
    const [task] = await deliveryTasksOf(stores, eventId)
    return required(await stores.queue.claim(required(task), inSeconds(25)))
  }

  test('a delivery of a paused connection leaves the queue and is held without a wake-up', async () => {
    const { connection, event, task } = await leasedConnection(bench, { plan: 'team' })
    const { connectionId } = connection
    await stores.parking.park(task, connection, { reason: 'paused' })
    expect(await status(event.eventId)).toMatchObject({ status: 'held', counts: { held: 1 } })
    expect(await stores.deliveries.get(event.eventId, connectionId)).toMatchObject({
      state: 'held',
      reason: 'paused',
    })
    const { eventId, sourceId, userId, receivedAt, expiresAt } = event
    const key = { PK: `WAIT#${connectionId}`, SK: `${bench.clock.now()}#${eventId}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      kind: 'wait',
      eventId,
      sourceId,
      userId,
      receivedAt,
      connectionId,
      run: 1,
      attemptNumber: 1,
      keptUntil: expiresAt,
      claimedAt: task.claimedAt,
      parkedAt: bench.clock.now(),
      reason: 'paused',
    })
    bench.clock.advance({ hours: 1 })
    expect(await deliveryTasksOf(stores, eventId)).toEqual([])
    expect(await wakesOf(connectionId)).toEqual([])
  })

  test('resuming a connection wakes its parked deliveries', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId, sourceId } = connection
    const paused = await stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    await stores.parking.park(task, paused, { reason: 'paused' })
    await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    const [wake] = await wakesOf(connectionId)
    expect(
      await stores.wakeUps.wakeUp(required(wake), { limit: 10, nextWakeAt: inSeconds(1) }),
    ).toEqual({
      released: 1,
      missing: 0,
      hasMore: false,
    })
    expect(await status(event.eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1 },
    })
    expect(await wakesOf(connectionId)).toEqual([])
    const leased = await claimOnly(event.eventId)
    await stores.settlement.settle(leased, {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await stores.wakeUps.listParked(connectionId)).toEqual([])
  })

  test('a delivery is not parked on a connection that was resumed concurrently', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId, sourceId } = connection
    const seen = await stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
    await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    const park = () => stores.parking.park(task, seen, { reason: 'paused' })
    expect(await park()).toEqual({ kind: 'connection_changed' })
    expect(await stores.wakeUps.listParked(connectionId)).toEqual([])
    await stores.settlement.settle(task, {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await park()).toEqual({ kind: 'lease_lost' })
  })

  test('no delivery is left without a wake-up when a pause and a resume race with parking', async () => {
    for (let round = 0; round < 5; round++) {
      const { connection, event, task } = await leasedConnection(bench)
      const { connectionId, sourceId } = connection
      const seen = await stores.connections.update(connectionId, { status: 'paused' }, { sourceId })
      const [parked] = await outcomes([
        stores.parking.park(task, seen, { reason: 'paused' }).then(({ kind }) => kind),
        stores.connections
          .update(connectionId, { status: 'active' }, { sourceId })
          .then(() => 'active'),
      ])
      bench.clock.advance({ seconds: 5 })
      const [wake] = await wakesOf(connectionId)
      const { released } = await stores.wakeUps.wakeUp(required(wake), {
        limit: 10,
        nextWakeAt: inSeconds(1),
      })
      expect(released).toBe(parked === 'parked' ? 1 : 0)
      bench.clock.advance({ seconds: 25 })
      expect(await deliveryTasksOf(stores, event.eventId)).toHaveLength(1)
    }
  })

  test('a delivery over a limit is parked until its wake-up, which is rounded up to a step of five seconds', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId } = connection
    const wakeAt = nextStep(connectionId, bench.clock.now() + 3_000, 5_000)
    await stores.parking.park(task, connection, { reason: 'limit', wakeAt: wakeAt - 1_234 })
    const key = { PK: `DUE#${shardOf(connectionId, 8)}`, SK: `${wakeAt}#WAKE#${connectionId}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      kind: 'wake',
      dueAt: wakeAt,
      connectionId,
      wakeId: expect.stringMatching(/^wak_/),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'processing' })
    bench.clock.advance({ seconds: 8 })
    expect(await wakesOf(connectionId)).toHaveLength(1)
  })

  test('a wake-up releases some deliveries, oldest first, and repeats until none is parked', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const made = [first, await lease(), await lease(), await lease(), await lease()]
    for (const { task } of made) {
      bench.clock.advance({ ms: 1 })
      await stores.parking.park(task, connection, { reason: 'circuit', wakeAt: inSeconds(1) })
    }
    const order: string[][] = []
    for (let round = 0; round < 3; round++) {
      bench.clock.advance({ seconds: 10 })
      const [wake, ...others] = await wakesOf(connection.connectionId)
      expect(others.length).toBeLessThanOrEqual(1)
      await stores.wakeUps.wakeUp(required(wake), { limit: 2, nextWakeAt: inSeconds(5) })
      const waiting = await stores.wakeUps.listParked(connection.connectionId)
      order.push(waiting.map(({ eventId }) => eventId))
    }
    const eventIds = made.map(({ event }) => event.eventId)
    expect(order).toEqual([eventIds.slice(2), eventIds.slice(4), []])
    for (const eventId of eventIds) expect(await deliveryTasksOf(stores, eventId)).toHaveLength(1)
  })

  test('many workers with the same wake-up release each delivery once', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const made = [first, await lease(), await lease(), await lease()]
    for (const { task } of made) await stores.parking.park(task, connection, { reason: 'paused' })
    const { connectionId, sourceId } = connection
    await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    const wake = required((await wakesOf(connectionId))[0])
    const ends = await Promise.all(
      times(6, () => stores.wakeUps.wakeUp(wake, { limit: 10, nextWakeAt: inSeconds(5) })),
    )
    expect(ends.reduce((sum, { released }) => sum + released, 0)).toBe(4)
    for (const { event } of made) {
      expect(await deliveryTasksOf(stores, event.eventId)).toHaveLength(1)
      expect(await status(event.eventId)).toMatchObject({
        counts: { ...noDeliveries, runnable: 1 },
      })
    }
  })

  test('the wake-up of a paused connection releases only deliveries that are not held, and then ends', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const [second, third] = [await lease(), await lease()]
    const { connectionId } = connection
    const wakeAt = inSeconds(1)
    await stores.parking.park(first.task, connection, { reason: 'limit', wakeAt })
    await stores.parking.park(second.task, connection, { reason: 'circuit', wakeAt })
    bench.clock.advance({ ms: 1 })
    await stores.parking.park(third.task, connection, { reason: 'paused' })
    const ends: unknown[] = []
    for (let round = 0; round < 2; round++) {
      bench.clock.advance({ seconds: 10 })
      const wake = required((await wakesOf(connectionId))[0])
      const end = await stores.wakeUps.wakeUp(wake, {
        limit: 1,
        nextWakeAt: inSeconds(5),
        isPaused: true,
      })
      ends.push(end)
    }
    expect(ends).toEqual([
      { released: 1, missing: 0, hasMore: true },
      { released: 1, missing: 0, hasMore: false },
    ])
    bench.clock.advance({ seconds: 10 })
    expect(await wakesOf(connectionId)).toEqual([])
    expect(await stores.wakeUps.listParked(connectionId)).toMatchObject([{ reason: 'paused' }])
  })

  test('a wake-up that may release nothing is postponed while deliveries are parked', async () => {
    const { connection, task } = await leasedConnection(bench)
    const { connectionId } = connection
    await stores.parking.park(task, connection, { reason: 'circuit', wakeAt: inSeconds(1) })
    bench.clock.advance({ seconds: 10 })
    const wake = required((await wakesOf(connectionId))[0])
    const nextWakeAt = inSeconds(60)
    expect(await stores.wakeUps.wakeUp(wake, { limit: 0, nextWakeAt })).toEqual({
      released: 0,
      missing: 0,
      hasMore: true,
    })
    expect(await wakesOf(connectionId)).toEqual([])
    bench.clock.advance({ seconds: 65 })
    expect(await wakesOf(connectionId)).toHaveLength(1)
    expect(await stores.wakeUps.listParked(connectionId)).toHaveLength(1)
  })

  test('a wake-up that was written again is not completed by a worker that read the earlier one', async () => {
    const { connection, lease, task } = await leasedConnection(bench)
    const second = await lease()
    const wakeAt = nextStep(connection.connectionId, bench.clock.now(), 5_000)
    bench.clock.advance({ ms: wakeAt - bench.clock.now() })
    await stores.parking.park(task, connection, { reason: 'limit', wakeAt })
    const [before] = await wakesOf(connection.connectionId)
    await stores.wakeUps.wakeUp(required(before), { limit: 10, nextWakeAt: inSeconds(5) })
    // As with a slower clock: its wake-up has the same key as the completed one.
    await stores.parking.park(second.task, connection, { reason: 'limit', wakeAt })
    const [anew] = await wakesOf(connection.connectionId)
    // It listed parked deliveries before that, and found none.
    const blind = { ...required(before), connectionId: newId('conn') }
    await stores.wakeUps.wakeUp(blind, { limit: 10, nextWakeAt: inSeconds(5) })
    expect(await wakesOf(connection.connectionId)).toEqual([anew])
  })

  test('a parked retry keeps its attempt number, and is retrying again after its release', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const attempt = attemptResult(bench.clock, { statusCode: 503 })
    await stores.settlement.settle(task, { state: 'retrying', attempt, nextAt: inSeconds(30) })
    bench.clock.advance({ seconds: 30 })
    await stores.parking.park(await claimOnly(event.eventId), connection, { reason: 'paused' })
    expect(await status(event.eventId)).toMatchObject({ status: 'held' })
    const { connectionId, sourceId } = connection
    await stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    await stores.wakeUps.wakeUp(required((await wakesOf(connectionId))[0]), {
      limit: 1,
      nextWakeAt: inSeconds(5),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'retrying' })
    expect(await deliveryTasksOf(stores, event.eventId)).toMatchObject([{ attemptNumber: 2 }])
  })

  test('deleting a connection wakes its parked deliveries, so that they fail', async () => {
    const { connection, task } = await leasedConnection(bench)
    await stores.parking.park(task, connection, { reason: 'paused' })
    await stores.connections.delete(connection.connectionId, connection)
    bench.clock.advance({ seconds: 5 })
    expect(await wakesOf(connection.connectionId)).toHaveLength(1)
  })
})
