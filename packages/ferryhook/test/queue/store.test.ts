import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { nextStep, shardOf } from '../../src/queue/shards.ts'
import type { LeasedTask } from '../../src/queue/tasks.ts'
import {
  allDue,
  attemptResult,
  deliveryTasksOf,
  eventInput,
  storesOn,
  leasedEvent,
  openWorkbench,
  outcomes,
  required,
  routeTaskOf,
  targetsOf,
  testWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(testWorlds())('the task queue on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const inSeconds = (seconds: number) => bench.clock.now() + seconds * 1000

  /** A delivery task that is due and not leased. */
  async function dueTask() {
    const event = await stores.events.create(eventInput())
    const route = await routeTaskOf(stores, event.eventId)
    await stores.routing.route(route, targetsOf([newId('conn')]))
    const [task] = await deliveryTasksOf(stores, event.eventId)
    return required(task)
  }

  test('a delivery task is stored in the shard of its connection, sorted by due time, without a TTL', async () => {
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

  test('exactly one of twenty concurrent workers claims a task', async () => {
    const task = await dueTask()
    const claims = await Promise.all(times(20, () => stores.queue.claim(task, inSeconds(25))))
    const [leased, ...others] = claims.filter(Boolean)
    expect(others).toEqual([])
    expect(leased).toMatchObject({ dueAt: inSeconds(25), claimedAt: bench.clock.now() })
    expect(await deliveryTasksOf(stores, task.eventId)).toEqual([])
    expect(await bench.stored('ferryhook-events', { PK: task.PK, SK: task.SK })).toBeUndefined()
  })

  test('a task of a crashed worker is due again when its lease ends, and one worker gets it', async () => {
    const task = await dueTask()
    const crashed = required(await stores.queue.claim(task, inSeconds(25)))
    bench.clock.advance({ ms: 24_999 })
    expect(await deliveryTasksOf(stores, task.eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const again = await deliveryTasksOf(stores, task.eventId)
    expect(again).toEqual([crashed])
    const claims = await Promise.all(
      times(20, () => stores.queue.claim(required(again[0]), inSeconds(25))),
    )
    const [leased, ...others] = claims.filter(Boolean)
    expect(others).toEqual([])
    expect(leased?.leaseId).not.toBe(crashed.leaseId)
    expect(leased?.claimedAt).toBe(crashed.claimedAt)
  })

  test('a worker whose lease was given to another is rejected and changes nothing', async () => {
    const task = await dueTask()
    const late = required(await stores.queue.claim(task, inSeconds(25)))
    bench.clock.advance({ seconds: 25 })
    const current = required(await stores.queue.claim(late, inSeconds(25)))
    const attempt = attemptResult(bench.clock)
    const before = await stores.events.getById(task.eventId)
    const settle = (leased: LeasedTask) =>
      stores.settlement.settle(leased, { state: 'delivered', attempt })
    expect(await settle(late)).toBe('lease_lost')
    expect(await stores.events.getById(task.eventId)).toEqual(before)
    expect(await stores.attempts.listByEvent(task.eventId)).toEqual([])
    await settle(current)
    expect(await settle(late)).toBe('lease_lost')
    expect(await settle(current)).toBe('lease_lost')
    expect(await stores.attempts.listByEvent(task.eventId)).toHaveLength(1)
    expect(await stores.events.getById(task.eventId)).toMatchObject({
      status: 'delivered',
      counts: { delivered: 1, runnable: 0 },
    })
  })

  test('a worker that is late but has no competitor can still settle its task', async () => {
    const { event, tasks } = await leasedEvent(bench)
    bench.clock.advance({ seconds: 60 })
    await stores.settlement.settle(required(tasks[0]), {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
    expect(await stores.events.getById(event.eventId)).toMatchObject({ status: 'delivered' })
    expect(await deliveryTasksOf(stores, event.eventId)).toEqual([])
  })

  test('a claim whose response was lost leaves the task to any worker after the lease', async () => {
    const task = await dueTask()
    const deaf = storesOn(bench.db, bench.clock, { seed: 1, lostResponse: 1 })
    expect(await outcomes([deaf.queue.claim(task, inSeconds(25))])).toEqual(['TimeoutError'])
    expect(await stores.queue.claim(task, inSeconds(25))).toBeUndefined()
    bench.clock.advance({ seconds: 25 })
    const [again] = await deliveryTasksOf(stores, task.eventId)
    expect(await stores.queue.claim(required(again), inSeconds(25))).toBeDefined()
  })

  test('a released task is due immediately for any worker, and only its lease holder can release it', async () => {
    const task = await dueTask()
    const leased = required(await stores.queue.claim(task, inSeconds(25)))
    bench.clock.advance({ seconds: 1 })
    expect(await stores.queue.releaseLease(leased)).toBe(true)
    const [again] = await deliveryTasksOf(stores, task.eventId)
    expect(again).toMatchObject({ dueAt: bench.clock.now(), attemptNumber: 1 })
    expect(again).not.toHaveProperty('leaseId')
    const current = required(await stores.queue.claim(required(again), inSeconds(25)))
    expect(await stores.queue.releaseLease(leased)).toBe(false)
    bench.clock.advance({ seconds: 25 })
    expect(await stores.queue.releaseLease(current)).toBe(true)
    expect(await deliveryTasksOf(stores, task.eventId)).toEqual([current])
  })

  test('two tasks of one delivery that move to the same time remain two', async () => {
    const first = await dueTask()
    bench.clock.advance({ ms: 1 })
    const { eventId, connectionId } = first
    const dueAt = bench.clock.now()
    const second = { ...first, dueAt, SK: `${dueAt}#${eventId}#${connectionId}`, run: 2 }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item: second as Item })
    const leaseUntil = inSeconds(25)
    const leased = await Promise.all(
      [first, second].map((task) => stores.queue.claim(task, leaseUntil)),
    )
    for (const task of leased) expect(await stores.queue.releaseLease(required(task))).toBe(true)
    bench.clock.advance({ ms: 1 })
    const runs = (await deliveryTasksOf(stores, eventId)).map(({ run }) => run)
    expect(new Set(runs)).toEqual(new Set([1, 2]))
  })

  test('a retry is due at its time and not before, with the next number', async () => {
    const { event, tasks } = await leasedEvent(bench)
    const attempt = attemptResult(bench.clock, { statusCode: 503 })
    const task = required(tasks[0])
    // The lease ends exactly when the next attempt is due.
    const nextAt = task.dueAt
    await stores.settlement.settle(task, { state: 'retrying', attempt, nextAt })
    bench.clock.advance({ ms: nextAt - bench.clock.now() })
    expect(await deliveryTasksOf(stores, event.eventId)).toEqual([])
    bench.clock.advance({ ms: 1 })
    const [next] = await deliveryTasksOf(stores, event.eventId)
    expect(next).toMatchObject({ attemptNumber: 2, run: 1, dueAt: nextAt + 1 })
    expect(next).not.toHaveProperty('leaseId')
    expect(await stores.events.getById(event.eventId)).toMatchObject({ status: 'retrying' })
  })

  test('due tasks are listed oldest first, without those that are not due', async () => {
    const shard = 3
    const connectionIds = times(200, () => newId('conn')).filter((id) => shardOf(id, 8) === shard)
    const made: string[] = []
    for (const connectionId of connectionIds.slice(0, 4)) {
      bench.clock.advance({ ms: 1 })
      const event = await stores.events.create(eventInput())
      await stores.routing.route(
        await routeTaskOf(stores, event.eventId),
        targetsOf([connectionId]),
      )
      made.push(event.eventId)
    }
    const { tasks } = await stores.queue.listDue(shard, { limit: 1000 })
    const mine = tasks.flatMap((task) =>
      'eventId' in task && made.includes(task.eventId) ? [task.eventId] : [],
    )
    expect(mine).toEqual(made)
    expect((await stores.queue.listDue(shard, { limit: 2 })).tasks).toHaveLength(2)
  })

  test('a skipped task counts towards the limit, and is not validated', async () => {
    const task = await dueTask()
    const Item = { PK: task.PK, SK: '1000000000001#skipped', kind: 'deliver' }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item })
    const shard = Number(task.PK.slice('DUE#'.length))
    const isSkipped = ({ SK }: { SK?: unknown }) => SK === Item.SK
    const all = await stores.queue.listDue(shard, { limit: 1000, isSkipped })
    expect(all.tasks).toContainEqual(task)
    expect(all.damaged.map(({ key }) => key['SK'])).not.toContain(Item.SK)
    expect(all.read).toBe(all.tasks.length + all.damaged.length + 1)
    const isSkippedToo = () => true
    const none = await stores.queue.listDue(shard, { limit: 1, isSkipped: isSkippedToo })
    expect(none).toMatchObject({ tasks: [], damaged: [], read: 1 })
    const { PK, SK } = Item
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: { PK, SK } })
  })

  test('a foreign item in a shard is returned as a typed error and does not block the others', async () => {
    const task = await dueTask()
    const Item = { PK: task.PK, SK: '1000000000000#nonsense', kind: 'deliver', secret: 'private' }
    await bench.db.putItem({ TableName: 'ferryhook-events', Item })
    const shard = Number(task.PK.slice('DUE#'.length))
    const { tasks, damaged } = await stores.queue.listDue(shard, { limit: 1000 })
    expect(tasks).toContainEqual(task)
    expect(damaged).toEqual([expect.any(ItemMismatch)])
    expect(damaged[0]).toMatchObject({ key: { PK: task.PK, SK: Item.SK } })
    expect(String(damaged[0])).not.toContain('private')
    await bench.db.deleteItem({ TableName: 'ferryhook-events', Key: { PK: Item.PK, SK: Item.SK } })
  })

  test('a lease that ends in the past is rejected', async () => {
    const task = await dueTask()
    await expect(stores.queue.claim(task, bench.clock.now())).rejects.toThrow(RangeError)
  })

  test('tasks of many connections are spread over all shards, those of one connection are in one', async () => {
    const shards = times(400, () => shardOf(newId('conn'), 8))
    expect(new Set(shards).size).toBe(8)
    const connectionId = newId('conn')
    expect(new Set(times(20, () => shardOf(connectionId, 8))).size).toBe(1)
  })

  test('recurring tasks of many sources and connections are due at times spread over their step', () => {
    const now = Date.parse('2100-01-01T00:00:00Z')
    const ids = times(300, () => newId('src'))
    for (const step of [5_000, 300_000]) {
      const due = ids.map((sourceId) => nextStep(sourceId, now, step))
      expect(Math.min(...due)).toBeGreaterThanOrEqual(now)
      expect(Math.max(...due)).toBeLessThan(now + step)
      const tenths = due.map((at) => Math.floor((at - now) / (step / 10)))
      for (const tenth of times(10, (n) => n)) {
        expect(tenths.filter((each) => each === tenth).length).toBeLessThan(70)
      }
      expect(nextStep('src_same', now, step)).toBe(nextStep('src_same', now, step))
      const at = nextStep('src_same', now, step)
      expect([nextStep('src_same', at, step), nextStep('src_same', at + 1, step)]).toEqual([
        at,
        at + step,
      ])
    }
  })

  test('the number of shards only increases, and tasks in the old shards are still found', async () => {
    const task = await dueTask()
    expect(await stores.shards.count()).toBe(8)
    expect(await stores.shards.increase(4)).toBe(8)
    const raised = await Promise.all([12, 16, 10].map((shards) => stores.shards.increase(shards)))
    expect(Math.max(...raised)).toBe(16)
    expect(await stores.shards.increase(9)).toBe(16)
    expect(await bench.stored('ferryhook-events', { PK: 'CONFIG', SK: 'DUE' })).toEqual({
      PK: 'CONFIG',
      SK: 'DUE',
      shards: 16,
    })
    expect(await allDue(stores)).toContainEqual(task)
    const leased = required(await stores.queue.claim(task, inSeconds(25)))
    expect(leased.PK).toBe(`DUE#${shardOf(task.connectionId, 16)}`)
    await stores.settlement.settle(leased, {
      state: 'delivered',
      attempt: attemptResult(bench.clock),
    })
  })

  test('another process sees new shards within a minute', async () => {
    const other = storesOn(bench.db, bench.clock)
    const before = await other.shards.count()
    await stores.shards.increase(before + 1)
    expect(await other.shards.count()).toBe(before)
    bench.clock.advance({ seconds: 60 })
    expect(await other.shards.count()).toBe(before + 1)
  })
})
