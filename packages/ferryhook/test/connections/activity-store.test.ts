import { newId } from '@strongroom/kit/ids'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  attemptResult,
  leasedConnection,
  openWorkbench,
  required,
  testWorlds,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe.each(testWorlds())('the activity of connections on $name', (world) => {
  let bench: Workbench
  let stores: Workbench['stores']

  beforeAll(async () => {
    bench = await openWorkbench(world)
    stores = bench.stores
  })
  afterAll(() => bench.close())

  const delivered = () => ({ state: 'delivered', attempt: attemptResult(bench.clock) }) as const
  const failed = { state: 'failed', reason: 'exhausted' } as const

  test('every delivery that ends is counted once, in the transaction that ends it', async () => {
    const { connection, lease, task } = await leasedConnection(bench)
    const tasks = [task]
    for (let n = 0; n < 11; n++) tasks.push((await lease()).task)
    await Promise.all(
      tasks.map((each, n) => stores.settlement.settle(each, n < 9 ? delivered() : failed)),
    )
    // A worker that lost its lease counts nothing.
    for (const each of tasks) {
      expect(await stores.settlement.settle(each, failed)).toBe('lease_lost')
    }
    expect(await stores.connectionActivity.current(connection)).toEqual({
      ...connection,
      deliveryCount: 9,
      failureCount: 3,
      circuit: undefined,
    })
  })

  test('a count is stored under the last character of the event id', async () => {
    const { connection, event, task } = await leasedConnection(bench)
    const { connectionId } = connection
    await stores.settlement.settle(task, delivered())
    const key = { PK: `CONN#${connectionId}`, SK: `COUNT#${event.eventId.slice(-1)}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      connectionId,
      delivered: 1,
    })
  })

  test('stored counts contain each ended delivery once, however many workers update them', async () => {
    const { connection, lease, task } = await leasedConnection(bench)
    const { connectionId } = connection
    const update = () =>
      stores.connectionHealth.add(connection, { succeeded: true, failedAttempts: 0 })
    await stores.settlement.settle(task, delivered())
    await Promise.all(times(5, update))
    await stores.settlement.settle((await lease()).task, failed)
    const stale = required(await stores.connections.getById(connectionId))
    expect(stale).toMatchObject({ deliveryCount: 1, failureCount: 0 })
    const current = { deliveryCount: 1, failureCount: 1 }
    expect(await stores.connectionActivity.current(stale)).toMatchObject(current)
    await Promise.all(times(5, update))
    const updated = required(await stores.connections.getById(connectionId))
    expect(updated).toMatchObject({ ...current, countedEnds: { delivered: 1, failed: 1 } })
    expect(await stores.connectionActivity.current(updated)).toMatchObject(current)
  })

  test('an open breaker is stored with its next attempt, and the earliest probe of all workers counts', async () => {
    const { connection } = await leasedConnection(bench)
    const { connectionId } = connection
    const since = bench.clock.now()
    const nextAttemptAt = since + 30_000
    const [first, second] = [newId('wrk'), newId('wrk')]
    const { openCircuit, closeCircuit, circuitOf } = stores.connectionActivity
    const opened = { connectionId, workerId: first, since, nextAttemptAt }
    expect(await openCircuit(opened)).toBe(true)
    const key = { PK: `CONN#${connectionId}`, SK: `CIRCUIT#${first}` }
    expect(await bench.stored('ferryhook-events', key)).toEqual({
      ...key,
      ...opened,
      expiresAt: nextAttemptAt / 1000 + 600,
    })
    const later = {
      connectionId,
      workerId: second,
      since: since + 1,
      nextAttemptAt: since + 60_000,
    }
    expect(await openCircuit(later)).toBe(false)
    expect(await circuitOf(connectionId)).toEqual({ state: 'open', since, nextAttemptAt })
    bench.clock.advance({ seconds: 30 })
    expect(await circuitOf(connectionId)).toMatchObject({ state: 'half_open', nextAttemptAt })
    expect(await closeCircuit({ connectionId, workerId: first })).toBe(false)
    expect(await circuitOf(connectionId)).toMatchObject({ state: 'open', since: since + 1 })
    // As if that worker had crashed.
    bench.clock.advance({ seconds: 30 + 600 })
    expect(await circuitOf(connectionId)).toBeUndefined()
    expect(await closeCircuit({ connectionId, workerId: second })).toBe(true)
  })

  test('nothing of a connection is left when its source is purged', async () => {
    const { connection, task } = await leasedConnection(bench)
    const { connectionId } = connection
    await stores.settlement.settle(task, delivered())
    const circuit = { since: bench.clock.now(), nextAttemptAt: bench.clock.now() }
    await stores.connectionActivity.openCircuit({
      connectionId,
      workerId: newId('wrk'),
      ...circuit,
    })
    await stores.connections.purge(connection)
    const { Items } = await bench.db.query({
      TableName: 'ferryhook-events',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': `CONN#${connectionId}` },
    })
    expect(Items).toEqual([])
  })
})
