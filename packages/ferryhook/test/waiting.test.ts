import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../src/db/due-shards.ts'
import { noDeliveries } from '../src/items/delivery-state.ts'
import type { LeasedTask, WakeTask } from '../src/items/task.ts'
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
} from './workbench.ts'

describe.each(serviceWorlds())('waiting deliveries on $name', (world) => {
  let bench: Workbench
  let layer: Workbench['layer']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    layer = bench.layer
  })
  afterAll(() => bench.close())

  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000
  const status = async (eventId: string) => required(await layer.events.getCurrent(eventId))

  async function wakesOf(connectionId: string): Promise<WakeTask[]> {
    const due = await allDue(layer)
    return due
      .filter((task) => task.kind === 'wake')
      .filter((task) => task.connectionId === connectionId)
  }

  async function claimOnly(eventId: string): Promise<LeasedTask> {
    const [task] = await deliveryTasksOf(layer, eventId)
    return required(await layer.dueWork.claim(required(task), inSeconds(25)))
  }

  test('a paused delivery leaves the queue, is held and visible, and has no wake', async () => {
    const { connection, event, task } = await leasedConnection(bench, { plan: 'team' })
    const { connectionId } = connection
    await layer.waiting.park(task, connection, { reason: 'paused' })
    expect(await status(event.eventId)).toMatchObject({ status: 'held', counts: { held: 1 } })
    expect(await layer.deliveries.get(event.eventId, connectionId)).toMatchObject({
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
    expect(await deliveryTasksOf(layer, eventId)).toEqual([])
    expect(await wakesOf(connectionId)).toEqual([])
  })

  test('resuming a connection wakes what waits for it', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId, sourceId } = connection
    const paused = await layer.connections.update(connectionId, { status: 'paused' }, { sourceId })
    await layer.waiting.park(task, paused, { reason: 'paused' })
    await layer.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    const [wake] = await wakesOf(connectionId)
    expect(await layer.waiting.wake(required(wake), { few: 10, againAt: inSeconds(1) })).toEqual({
      released: 1,
      gone: 0,
      more: false,
    })
    expect(await status(event.eventId)).toMatchObject({
      status: 'processing',
      counts: { ...noDeliveries, runnable: 1 },
    })
    expect(await wakesOf(connectionId)).toEqual([])
    const leased = await claimOnly(event.eventId)
    await layer.settling.settle(leased, { state: 'delivered', attempt: attemptResult(bench.clock) })
    expect(await status(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await layer.waiting.list(connectionId)).toEqual([])
  })

  test('a delivery is not parked on a connection that was resumed meanwhile', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId, sourceId } = connection
    const seen = await layer.connections.update(connectionId, { status: 'paused' }, { sourceId })
    await layer.connections.update(connectionId, { status: 'active' }, { sourceId })
    const park = () => layer.waiting.park(task, seen, { reason: 'paused' })
    expect(await outcomes([park()])).toEqual(['connection_changed'])
    expect(await layer.waiting.list(connectionId)).toEqual([])
    await layer.settling.settle(task, { state: 'delivered', attempt: attemptResult(bench.clock) })
    expect(await status(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await outcomes([park()])).toEqual(['lease_lost'])
  })

  test('whether a pause and a resume overlap with parking, no delivery is left without a wake', async () => {
    for (let round = 0; round < 5; round++) {
      const { connection, event, task } = await leasedConnection(bench)
      const { connectionId, sourceId } = connection
      const seen = await layer.connections.update(connectionId, { status: 'paused' }, { sourceId })
      const [parked] = await outcomes([
        layer.waiting.park(task, seen, { reason: 'paused' }).then(() => 'parked'),
        layer.connections
          .update(connectionId, { status: 'active' }, { sourceId })
          .then(() => 'active'),
      ])
      bench.clock.advance({ seconds: 5 })
      const [wake] = await wakesOf(connectionId)
      const { released } = await layer.waiting.wake(required(wake), {
        few: 10,
        againAt: inSeconds(1),
      })
      expect(released).toBe(parked === 'parked' ? 1 : 0)
      bench.clock.advance({ seconds: 25 })
      expect(await deliveryTasksOf(layer, event.eventId)).toHaveLength(1)
    }
  })

  test('a delivery over a limit waits for its wake, which is put at full five seconds', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId } = connection
    bench.clock.advance({ ms: 5_000 - (bench.clock.now() % 5_000) })
    const wakeAt = bench.clock.now() + 5_000
    await layer.waiting.park(task, connection, { reason: 'limit', wakeAt: wakeAt - 1_234 })
    const key = { PK: `DUE#${shardOf(connectionId, 8)}`, SK: `${wakeAt}#WAKE#${connectionId}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      kind: 'wake',
      dueAt: wakeAt,
      connectionId,
      wakeId: expect.stringMatching(/^wak_/),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'processing' })
    bench.clock.advance({ seconds: 5 })
    expect(await wakesOf(connectionId)).toHaveLength(1)
  })

  test('a wake lets a few go, the longest waiting first, and comes again until none waits', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const made = [first, await lease(), await lease(), await lease(), await lease()]
    for (const { task } of made) {
      bench.clock.advance({ ms: 1 })
      await layer.waiting.park(task, connection, { reason: 'circuit', wakeAt: inSeconds(1) })
    }
    const order: string[][] = []
    for (let round = 0; round < 3; round++) {
      bench.clock.advance({ seconds: 10 })
      const [wake, ...others] = await wakesOf(connection.connectionId)
      expect(others.length).toBeLessThanOrEqual(1)
      await layer.waiting.wake(required(wake), { few: 2, againAt: inSeconds(5) })
      const waiting = await layer.waiting.list(connection.connectionId)
      order.push(waiting.map(({ eventId }) => eventId))
    }
    const eventIds = made.map(({ event }) => event.eventId)
    expect(order).toEqual([eventIds.slice(2), eventIds.slice(4), []])
    for (const eventId of eventIds) expect(await deliveryTasksOf(layer, eventId)).toHaveLength(1)
  })

  test('many workers at one wake release each delivery once', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const made = [first, await lease(), await lease(), await lease()]
    for (const { task } of made) await layer.waiting.park(task, connection, { reason: 'paused' })
    const { connectionId, sourceId } = connection
    await layer.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    const wake = required((await wakesOf(connectionId))[0])
    const ends = await Promise.all(
      times(6, () => layer.waiting.wake(wake, { few: 10, againAt: inSeconds(5) })),
    )
    expect(ends.reduce((sum, { released }) => sum + released, 0)).toBe(4)
    for (const { event } of made) {
      expect(await deliveryTasksOf(layer, event.eventId)).toHaveLength(1)
      expect(await status(event.eventId)).toMatchObject({
        counts: { ...noDeliveries, runnable: 1 },
      })
    }
  })

  test('the wake of a paused connection lets only those go that are not held yet, and then ends', async () => {
    const { connection, lease, ...first } = await leasedConnection(bench)
    const [second, third] = [await lease(), await lease()]
    const { connectionId } = connection
    const wakeAt = inSeconds(1)
    await layer.waiting.park(first.task, connection, { reason: 'limit', wakeAt })
    await layer.waiting.park(second.task, connection, { reason: 'circuit', wakeAt })
    bench.clock.advance({ ms: 1 })
    await layer.waiting.park(third.task, connection, { reason: 'paused' })
    const ends: unknown[] = []
    for (let round = 0; round < 2; round++) {
      bench.clock.advance({ seconds: 10 })
      const wake = required((await wakesOf(connectionId))[0])
      const end = await layer.waiting.wake(wake, { few: 1, againAt: inSeconds(5), paused: true })
      ends.push(end)
    }
    expect(ends).toEqual([
      { released: 1, gone: 0, more: true },
      { released: 1, gone: 0, more: false },
    ])
    bench.clock.advance({ seconds: 10 })
    expect(await wakesOf(connectionId)).toEqual([])
    expect(await layer.waiting.list(connectionId)).toMatchObject([{ reason: 'paused' }])
  })

  test('a wake that may let nobody go puts itself off as long as somebody waits', async () => {
    const { connection, task } = await leasedConnection(bench)
    const { connectionId } = connection
    await layer.waiting.park(task, connection, { reason: 'circuit', wakeAt: inSeconds(1) })
    bench.clock.advance({ seconds: 10 })
    const wake = required((await wakesOf(connectionId))[0])
    const againAt = inSeconds(60)
    expect(await layer.waiting.wake(wake, { few: 0, againAt })).toEqual({
      released: 0,
      gone: 0,
      more: true,
    })
    expect(await wakesOf(connectionId)).toEqual([])
    bench.clock.advance({ seconds: 65 })
    expect(await wakesOf(connectionId)).toHaveLength(1)
    expect(await layer.waiting.list(connectionId)).toHaveLength(1)
  })

  test('a wake that a parking put anew is not ended by a worker that saw the one before', async () => {
    const { connection, lease, task } = await leasedConnection(bench)
    const second = await lease()
    bench.clock.advance({ ms: 5_000 - (bench.clock.now() % 5_000) })
    const wakeAt = bench.clock.now()
    await layer.waiting.park(task, connection, { reason: 'limit', wakeAt })
    const [before] = await wakesOf(connection.connectionId)
    await layer.waiting.wake(required(before), { few: 10, againAt: inSeconds(5) })
    // As a machine with a slower clock does: its wake has the very key of the one that ended.
    await layer.waiting.park(second.task, connection, { reason: 'limit', wakeAt })
    const [anew] = await wakesOf(connection.connectionId)
    // It looked for waiting ones before that, and found none.
    const blind = { ...required(before), connectionId: newId('conn') }
    await layer.waiting.wake(blind, { few: 10, againAt: inSeconds(5) })
    expect(await wakesOf(connection.connectionId)).toEqual([anew])
  })

  test('a retry that waited keeps its number, and is retrying again when it is released', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const attempt = attemptResult(bench.clock, { statusCode: 503 })
    await layer.settling.settle(task, { state: 'retrying', attempt, nextAt: inSeconds(30) })
    bench.clock.advance({ seconds: 30 })
    await layer.waiting.park(await claimOnly(event.eventId), connection, { reason: 'paused' })
    expect(await status(event.eventId)).toMatchObject({ status: 'held' })
    const { connectionId, sourceId } = connection
    await layer.connections.update(connectionId, { status: 'active' }, { sourceId })
    bench.clock.advance({ seconds: 5 })
    await layer.waiting.wake(required((await wakesOf(connectionId))[0]), {
      few: 1,
      againAt: inSeconds(5),
    })
    expect(await status(event.eventId)).toMatchObject({ status: 'retrying' })
    expect(await deliveryTasksOf(layer, event.eventId)).toMatchObject([{ attemptNumber: 2 }])
  })

  test('deleting a connection wakes what waits, so that it comes to an end', async () => {
    const { connection, task } = await leasedConnection(bench)
    await layer.waiting.park(task, connection, { reason: 'paused' })
    await layer.connections.delete(connection.connectionId, connection)
    bench.clock.advance({ seconds: 5 })
    expect(await wakesOf(connection.connectionId)).toHaveLength(1)
  })
})
