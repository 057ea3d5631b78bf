import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/item-mismatch'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shardOf } from '../src/db/due-shards.ts'
import type { LeasedTask } from '../src/items/task.ts'
import {
  allDue,
  attemptResult,
  deliveryTasksOf,
  eventInput,
  layerOn,
  leasedEvent,
  openWorkbench,
  outcomes,
  required,
  routeTaskOf,
  targetsOf,
  testWorlds,
  times,
  type Workbench,
} from './workbench.ts'

describe.each(testWorlds())('due work on $name', (world) => {
  let bench: Workbench
  let layer: Workbench['layer']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    layer = bench.layer
  })
  afterAll(() => bench.close())

  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000

  /** A delivery that is due and nobody has. */
  async function dueTask() {
    const event = await layer.events.create(eventInput())
    const route = await routeTaskOf(layer, event.eventId)
    await layer.routing.route(route, targetsOf([newId('conn')]))
    const [task] = await deliveryTasksOf(layer, event.eventId)
    return required(task)
  }

  test('a delivery task is stored in the shard of its connection, by when it is due, without a TTL', async () => {
    const task = await dueTask()
    const { eventId, connectionId, sourceId, userId, receivedAt } = task
    const key = {
      PK: `DUE#${shardOf(connectionId, 8)}`,
      SK: `${bench.clock.now()}#${eventId}#${connectionId}`,
    }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      kind: 'deliver',
      dueAt: bench.clock.now(),
      eventId,
      connectionId,
      sourceId,
      userId,
      receivedAt,
      run: 1,
      attemptNumber: 1,
      keptUntil: Math.floor(receivedAt / 1000) + 2_592_000,
    })
  })

  test('of twenty workers that claim a task at once exactly one gets it', async () => {
    const task = await dueTask()
    const claims = await Promise.all(times(20, () => layer.dueWork.claim(task, inSeconds(25))))
    const [leased, ...others] = claims.filter(Boolean)
    expect(others).toEqual([])
    expect(leased).toMatchObject({ dueAt: inSeconds(25), claimedAt: bench.clock.now() })
    expect(await deliveryTasksOf(layer, task.eventId)).toEqual([])
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('a task whose worker crashed is due again by itself when its lease has ended, and one gets it', async () => {
    const task = await dueTask()
    const crashed = required(await layer.dueWork.claim(task, inSeconds(25)))
    bench.clock.advance({ ms: 24_999 })
    expect(await deliveryTasksOf(layer, task.eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const again = await deliveryTasksOf(layer, task.eventId)
    expect(again).toEqual([crashed])
    const claims = await Promise.all(
      times(20, () => layer.dueWork.claim(required(again[0]), inSeconds(25))),
    )
    const [leased, ...others] = claims.filter(Boolean)
    expect(others).toEqual([])
    expect(leased?.leaseId).not.toBe(crashed.leaseId)
    expect(leased?.claimedAt).toBe(crashed.claimedAt)
  })

  test('a worker that comes after its lease was given to another is refused and changes nothing', async () => {
    const task = await dueTask()
    const late = required(await layer.dueWork.claim(task, inSeconds(25)))
    bench.clock.advance({ seconds: 25 })
    const current = required(await layer.dueWork.claim(late, inSeconds(25)))
    const attempt = attemptResult(bench.clock)
    const before = await layer.events.getCurrent(task.eventId)
    const settle = (leased: LeasedTask) =>
      layer.settling.settle(leased, { state: 'delivered', attempt })
    expect(await outcomes([settle(late)])).toEqual(['lease_lost'])
    expect(await layer.events.getCurrent(task.eventId)).toEqual(before)
    expect(await layer.attempts.listByEvent(task.eventId)).toEqual([])
    await settle(current)
    expect(await outcomes([settle(late), settle(current)])).toEqual(['lease_lost', 'lease_lost'])
    expect(await layer.attempts.listByEvent(task.eventId)).toHaveLength(1)
    expect(await layer.events.getCurrent(task.eventId)).toMatchObject({
      status: 'delivered',
      counts: { delivered: 1, runnable: 0 },
    })
  })

  test('a worker that is late but alone may still settle its task', async () => {
    const { event, tasks } = await leasedEvent(bench)
    bench.clock.advance({ seconds: 60 })
    await layer.settling.settle(required(tasks[0]), {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
    expect(await layer.events.getCurrent(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await deliveryTasksOf(layer, event.eventId)).toEqual([])
  })

  test('a claim whose answer got lost leaves the task to whoever comes when the lease has ended', async () => {
    const task = await dueTask()
    const deaf = layerOn(bench.db, bench.clock, { seed: 1, lostResponse: 1 })
    expect(await outcomes([deaf.dueWork.claim(task, inSeconds(25))])).toEqual(['TimeoutError'])
    expect(await layer.dueWork.claim(task, inSeconds(25))).toBeUndefined()
    bench.clock.advance({ seconds: 25 })
    const [again] = await deliveryTasksOf(layer, task.eventId)
    expect(await layer.dueWork.claim(required(again), inSeconds(25))).toBeDefined()
  })

  test('a task that is given back is due at once, for anybody, and not by somebody who lost it', async () => {
    const task = await dueTask()
    const leased = required(await layer.dueWork.claim(task, inSeconds(25)))
    bench.clock.advance({ seconds: 1 })
    expect(await layer.dueWork.giveBack(leased)).toBe(true)
    const [again] = await deliveryTasksOf(layer, task.eventId)
    expect(again).toMatchObject({ dueAt: bench.clock.now(), attemptNumber: 1 })
    expect(again).not.toHaveProperty('leaseId')
    const current = required(await layer.dueWork.claim(required(again), inSeconds(25)))
    expect(await layer.dueWork.giveBack(leased)).toBe(false)
    bench.clock.advance({ seconds: 25 })
    expect(await layer.dueWork.giveBack(current)).toBe(true)
    expect(await deliveryTasksOf(layer, task.eventId)).toEqual([current])
  })

  test('two tasks of one delivery that are taken or given back at the same moment are still two', async () => {
    const first = await dueTask()
    bench.clock.advance({ ms: 1 })
    const { eventId, connectionId } = first
    const dueAt = bench.clock.now()
    const second = { ...first, dueAt, SK: `${dueAt}#${eventId}#${connectionId}`, run: 2 }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: second as Item })
    const leaseUntil = inSeconds(25)
    const leased = await Promise.all(
      [first, second].map((task) => layer.dueWork.claim(task, leaseUntil)),
    )
    for (const task of leased) expect(await layer.dueWork.giveBack(required(task))).toBe(true)
    bench.clock.advance({ ms: 1 })
    const runs = (await deliveryTasksOf(layer, eventId)).map(({ run }) => run)
    expect(new Set(runs)).toEqual(new Set([1, 2]))
  })

  test('a retry is due at its time and not before, with the next number', async () => {
    const { event, tasks } = await leasedEvent(bench)
    const attempt = attemptResult(bench.clock, { statusCode: 503 })
    const task = required(tasks[0])
    // The lease happens to end just when the next attempt is due.
    const nextAt = task.dueAt
    await layer.settling.settle(task, { state: 'retrying', attempt, nextAt })
    bench.clock.advance({ ms: nextAt - bench.clock.now() })
    expect(await deliveryTasksOf(layer, event.eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const [next] = await deliveryTasksOf(layer, event.eventId)
    expect(next).toMatchObject({ attemptNumber: 2, run: 1, dueAt: nextAt + 1 })
    expect(next).not.toHaveProperty('leaseId')
    expect(await layer.events.getCurrent(event.eventId)).toMatchObject({ status: 'retrying' })
  })

  test('the longest due comes first, and what is not due yet does not come', async () => {
    const shard = 3
    const connectionIds = times(200, () => newId('conn')).filter((id) => shardOf(id, 8) === shard)
    const made: string[] = []
    for (const connectionId of connectionIds.slice(0, 4)) {
      bench.clock.advance({ ms: 1 })
      const event = await layer.events.create(eventInput())
      await layer.routing.route(await routeTaskOf(layer, event.eventId), targetsOf([connectionId]))
      made.push(event.eventId)
    }
    const { tasks } = await layer.dueWork.listDue(shard, { limit: 1000 })
    const mine = tasks.flatMap((task) =>
      'eventId' in task && made.includes(task.eventId) ? [task.eventId] : [],
    )
    expect(mine).toEqual(made)
    expect((await layer.dueWork.listDue(shard, { limit: 2 })).tasks).toHaveLength(2)
  })

  test('a foreign item in a shard is told as a typed error and does not stop the others', async () => {
    const task = await dueTask()
    const Item = { PK: task.PK, SK: '1000000000000#nonsense', kind: 'deliver', secret: 'private' }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item })
    const shard = Number(task.PK.slice('DUE#'.length))
    const { tasks, damaged } = await layer.dueWork.listDue(shard, { limit: 1000 })
    expect(tasks).toContainEqual(task)
    expect(damaged).toEqual([expect.any(ItemMismatch)])
    expect(damaged[0]).toMatchObject({ key: { PK: task.PK, SK: Item.SK } })
    expect(String(damaged[0])).not.toContain('private')
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: { PK: Item.PK, SK: Item.SK } })
  })

  test('a lease that ends in the past is refused', async () => {
    const task = await dueTask()
    await expect(layer.dueWork.claim(task, bench.clock.now())).rejects.toThrow(RangeError)
  })

  test('due work of many connections is spread over all shards, of one connection over one', async () => {
    const shards = times(400, () => shardOf(newId('conn'), 8))
    expect(new Set(shards).size).toBe(8)
    const connectionId = newId('conn')
    expect(new Set(times(20, () => shardOf(connectionId, 8))).size).toBe(1)
  })

  test('the number of shards is only ever raised, and what lies in the old ones is still found', async () => {
    const task = await dueTask()
    expect(await layer.dueShards.count()).toBe(8)
    expect(await layer.dueShards.raise(4)).toBe(8)
    const raised = await Promise.all([12, 16, 10].map((shards) => layer.dueShards.raise(shards)))
    expect(Math.max(...raised)).toBe(16)
    expect(await layer.dueShards.raise(9)).toBe(16)
    expect(await bench.stored('ferryhook-events', { PK: 'CONFIG', SK: 'DUE' })).toEqual({
      PK: 'CONFIG',
      SK: 'DUE',
      shards: 16,
    })
    expect(await allDue(layer)).toContainEqual(task)
    const leased = required(await layer.dueWork.claim(task, inSeconds(25)))
    expect(leased.PK).toBe(`DUE#${shardOf(task.connectionId, 16)}`)
    await layer.settling.settle(leased, { state: 'delivered', attempt: attemptResult(bench.clock) })
  })

  test('another process learns of more shards within a minute', async () => {
    const other = layerOn(bench.db, bench.clock)
    const before = await other.dueShards.count()
    await layer.dueShards.raise(before + 1)
    expect(await other.dueShards.count()).toBe(before)
    bench.clock.advance({ seconds: 60 })
    expect(await other.dueShards.count()).toBe(before + 1)
  })
})
