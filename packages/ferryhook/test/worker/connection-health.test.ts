import { testStores } from '@strongroom/kit/testing/stores'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Connection } from '../../src/connections/item.ts'
import type { Source } from '../../src/sources/item.ts'
import { required } from '../support/test-stores.ts'
import { answer } from '../support/test-destination.ts'
import { openWorkerBench, type WorkerBench } from '../support/test-worker.ts'

const store = required(testStores()[0])
const HOUR_MS = 3_600_000

describe('a connection that keeps failing', () => {
  let bench: WorkerBench
  let source: Source
  let connection: Connection

  beforeEach(async () => {
    bench = await openWorkerBench({ store }, { random: () => 0.5 })
    source = await bench.newSource()
    connection = await bench.connect(source, '/failing', { retryConfig: '[0]' })
    bench.sink.behave('/failing', answer(404))
  })
  afterEach(() => bench.close())

  const stored = async () =>
    required(await bench.stores.connections.get(connection.connectionId, connection.sourceId))
  const told = () =>
    bench.alerts.map(({ kind }) => kind).filter((kind) => kind.startsWith('connection.'))

  /** One failing event at each interval, in hours. */
  async function failFor(hours: number, { every = 3, worker = bench.worker } = {}) {
    for (let hour = 0; hour < hours; hour += every) {
      await bench.receive(source)
      await worker.runOnce()
      await bench.timers.pass({ ms: every * HOUR_MS })
    }
    await worker.runOnce()
  }

  test('is reported after a day and paused with a reason after three, and then its events are held', async () => {
    const since = new Date(bench.clock.now()).toISOString()
    await failFor(24, { every: 2 })
    expect(told()).toEqual([])
    await failFor(2, { every: 2 })
    expect(bench.alerts.filter(({ kind }) => kind === 'connection.warning')).toMatchObject([
      { connectionId: connection.connectionId, failingSince: since, failedAttempts: 13 },
    ])
    await failFor(44, { every: 2 })
    expect(told()).toEqual(['connection.warning'])
    expect(await stored()).toMatchObject({ status: 'active' })
    await failFor(4, { every: 2 })
    expect(told()).toEqual(['connection.warning', 'connection.paused'])
    expect(await stored()).toMatchObject({ status: 'paused', statusReason: 'failing' })
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    expect(await bench.status(event)).toBe('held')
  })

  test('is not paused for a few failures, however far they are apart', async () => {
    for (let day = 0; day < 8; day++) {
      await bench.receive(source)
      await bench.worker.runOnce()
      await bench.timers.pass({ ms: 24 * HOUR_MS })
    }
    await bench.worker.runOnce()
    expect(told()).toEqual([])
    expect(await stored()).toMatchObject({ status: 'active', failedAttempts: 8, failureCount: 8 })
  })

  test('is healthy again after the first success', async () => {
    await failFor(30)
    expect(told()).toEqual(['connection.warning'])
    bench.sink.behave('/failing', answer(200))
    await bench.receive(source)
    await bench.worker.runOnce()
    await bench.timers.pass({ ms: HOUR_MS })
    await bench.worker.runOnce()
    expect(await stored()).not.toHaveProperty('failingSince')
    bench.sink.behave('/failing', answer(404))
    await failFor(20)
    expect(told()).toEqual(['connection.warning'])
    expect(await stored()).toMatchObject({ status: 'active', deliveryCount: 1 })
  })

  test('is tracked across restarts and workers, and its owner is notified once', async () => {
    const other = bench.anotherWorker()
    for (let day = 0; day < 4; day++) {
      await failFor(12)
      await failFor(12, { worker: other })
    }
    expect(told()).toEqual(['connection.warning', 'connection.paused'])
  })

  test('is not paused for failed replays, which are manual tests', async () => {
    const event = await bench.receive(source)
    await bench.worker.runOnce()
    for (let hour = 0; hour < 80; hour += 3) {
      await bench.stores.deliveries.replay(event.eventId, connection.connectionId)
      await bench.worker.runOnce()
      await bench.timers.pass({ ms: 3 * HOUR_MS })
    }
    expect(told()).toEqual([])
    expect(await stored()).toMatchObject({ status: 'active', failedAttempts: 1 })
  })

  test('starts over after its owner resumes it', async () => {
    await failFor(75)
    expect(await stored()).toMatchObject({ status: 'paused' })
    const { connectionId, sourceId } = connection
    await bench.stores.connections.update(connectionId, { status: 'active' }, { sourceId })
    await failFor(5)
    expect(await stored()).toMatchObject({ status: 'active' })
  })
})
