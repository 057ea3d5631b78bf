import { newId } from '@strongroom/kit/ids'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createFerryhookStatus } from '../src/status.ts'
import {
  connectionInput,
  eventInput,
  openWorkbench,
  testWorlds,
  times,
  type Workbench,
} from './support/test-stores.ts'

describe.each(testWorlds())('the status of Ferryhook on $name', (world) => {
  let bench: Workbench

  beforeEach(async () => {
    bench = await openWorkbench(world)
  })
  afterEach(() => bench.close())

  const status = () => createFerryhookStatus(bench)()

  test('has no problems and no work on an empty store', async () => {
    expect(await status()).toEqual({
      note: 'Nothing overdue, no connection failing',
      problems: [],
      work: { due: 0, overdue: 0, waiting: 0, isComplete: true },
    })
  })

  test('counts what is due, and what no worker took for a minute is overdue', async () => {
    const receivedAt = bench.clock.now()
    await Promise.all(times(3, () => bench.stores.events.create(eventInput())))
    expect(await status()).toMatchObject({
      problems: [],
      work: { due: 3, overdue: 0, oldestDueAt: receivedAt },
    })
    bench.clock.advance({ minutes: 5 })
    await bench.stores.events.create(eventInput())
    const { problems, work, note } = await status()
    expect(work).toEqual({
      due: 4,
      overdue: 3,
      waiting: 0,
      oldestDueAt: receivedAt,
      isComplete: true,
    })
    expect(note).toBe('3 overdue')
    expect(problems).toMatchObject([
      {
        severity: 'bad',
        title: '3 tasks are overdue',
        since: receivedAt + 60_000,
        command: 'strongroom worker',
      },
    ])
  })

  test('has the connections that fail, with the oldest failure, and those that are paused', async () => {
    const { connections, connectionHealth } = bench.stores
    const sourceId = newId('src')
    const [one, two, three] = await Promise.all(
      times(3, () => connections.create(connectionInput({ sourceId }))),
    )
    const outcome = { succeeded: false, failedAttempts: 1 }
    const first = bench.clock.now()
    await connectionHealth.add(one!, { ...outcome, firstFailureAt: first })
    bench.clock.advance({ minutes: 1 })
    await connectionHealth.add(two!, { ...outcome, firstFailureAt: bench.clock.now() })
    await connectionHealth.pause({ ...three!, rev: three!.rev }, 'failing')
    const { problems, note } = await status()
    expect(problems).toMatchObject([
      { severity: 'warn', title: '2 connections fail', since: first, page: '/server/failing' },
    ])
    expect(note).toBe('2 connections failing, 1 paused')
  })

  test('counts the deliveries that wait for connections in trouble', async () => {
    const connection = await bench.stores.connections.create(connectionInput())
    await bench.stores.connectionHealth.pause(connection, 'failing')
    const { connectionId } = connection
    for (let each = 0; each < 3; each++) {
      await bench.db.putItem({
        TableName: 'ferryhook-events',
        Item: { PK: `WAIT#${connectionId}`, SK: `${bench.clock.now()}#evt_${each}` },
      })
    }
    expect((await status()).work).toMatchObject({ waiting: 3, isComplete: true })
  })

  test('reads connections again after five minutes, because that needs a scan', async () => {
    const read = createFerryhookStatus(bench)
    await read()
    const connection = await bench.stores.connections.create(connectionInput())
    const outcome = { succeeded: false, failedAttempts: 1, firstFailureAt: bench.clock.now() }
    await bench.stores.connectionHealth.add(connection, outcome)
    expect((await read()).problems).toEqual([])
    bench.clock.advance({ minutes: 5 })
    expect((await read()).problems).toHaveLength(1)
  })
})
