import type { Db } from '@strongroom/kit/db'
import { createLog, silentLog } from '@strongroom/kit/log'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createRetentionLoop, type RetentionResult } from '../../src/deliveries/retention.ts'
import {
  eventInput,
  storesOn,
  openWorkbench,
  times,
  type Workbench,
} from '../support/test-stores.ts'

describe('the retention loop', () => {
  test('checks again ten minutes after the last check ended, however long it took', async () => {
    const timers = testTimers(testClock())
    const looks: ((kept: RetentionResult) => void)[] = []
    const extendOverdue = () => new Promise<RetentionResult>((resolve) => void looks.push(resolve))
    const stores = { retention: { extendOverdue } }
    const loop = createRetentionLoop({ stores, startTimer: timers.start, log: silentLog })
    loop.start()
    await timers.pass({ seconds: 3_600 })
    expect(looks).toHaveLength(1)
    looks[0]?.({ tasks: 0, failures: 0 })
    await timers.pass({ seconds: 599 })
    expect(looks).toHaveLength(1)
    await timers.pass({ seconds: 1 })
    expect(looks).toHaveLength(2)
  })

  test('stops a running check when it is closed, and does not start another', async () => {
    const timers = testTimers(testClock())
    const extendOverdue = vi.fn<(signal?: AbortSignal) => Promise<RetentionResult>>(
      (signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => resolve({ tasks: 1, failures: 0 }))
        }),
    )
    const stores = { retention: { extendOverdue } }
    const loop = createRetentionLoop({ stores, startTimer: timers.start, log: silentLog })
    loop.start()
    await loop.close()
    await timers.pass({ seconds: 3_600 })
    expect(extendOverdue).toHaveBeenCalledTimes(1)
  })
})

describe.each(serviceStores())('overdue tasks on $name', (store) => {
  let bench: Workbench
  beforeEach(async () => {
    bench = await openWorkbench({ store })
  })
  afterEach(() => bench.close())

  async function overdue(many: number) {
    // Events of one source, so that all tasks are in one shard.
    const input = eventInput({ plan: 'free' })
    const events = await Promise.all(times(many, () => bench.stores.events.create(input)))
    bench.clock.advance({ hours: 23 })
    return events
  }

  /** The store, counting the transactions in flight. */
  function watched(onWrite: (underWay: number) => void): Db {
    let underWay = 0
    return {
      ...bench.db,
      async transactWriteItems(input) {
        onWrite(++underWay)
        try {
          return await bench.db.transactWriteItems(input)
        } finally {
          underWay--
        }
      },
    }
  }

  test('are extended a few at a time', async () => {
    await overdue(12)
    let most = 0
    const db = watched((underWay) => (most = Math.max(most, underWay)))
    const kept = await storesOn(db, bench.clock).retention.extendOverdue()
    expect(kept).toEqual({ tasks: 12, failures: 0 })
    expect(most).toBeGreaterThan(1)
    expect(most).toBeLessThanOrEqual(4)
  })

  test('are left to the next process when the signal aborts', async () => {
    await overdue(12)
    const closing = new AbortController()
    const ending = storesOn(
      watched(() => closing.abort()),
      bench.clock,
    )
    const { tasks } = await ending.retention.extendOverdue(closing.signal)
    expect(tasks).toBeGreaterThan(0)
    expect(tasks).toBeLessThanOrEqual(4)
    expect(await bench.stores.retention.extendOverdue()).toEqual({ tasks: 12 - tasks, failures: 0 })
  })

  test('are extended even if one of them fails, which is logged once', async () => {
    const [damaged, ...rest] = await overdue(6)
    await bench.db.updateItem({
      TableName: 'ferryhook-events',
      Key: { PK: damaged?.PK ?? '', SK: damaged?.SK ?? '' },
      UpdateExpression: 'SET headers = :damaged',
      ExpressionAttributeValues: { ':damaged': 1 },
    })
    const lines: string[] = []
    const log = createLog({ sink: (line) => void lines.push(line) })
    const startTimer = testTimers(bench.clock).start
    const looked = vi.fn<() => void>()
    const extendOverdue = async (signal?: AbortSignal) => {
      const kept = await bench.stores.retention.extendOverdue(signal)
      looked()
      return kept
    }
    const loop = createRetentionLoop({
      stores: { retention: { extendOverdue } },
      startTimer,
      log,
    })
    loop.start()
    await vi.waitFor(() => expect(looked).toHaveBeenCalled())
    await loop.close()
    for (const { eventId, expiresAt } of rest) {
      const current = await bench.stores.events.getById(eventId)
      expect(current?.expiresAt).toBeGreaterThan(expiresAt)
    }
    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ tasks: 5, failures: 1 })
    expect(lines[0]).not.toContain('evt_')
  })

  test('of one shard are extended even if another shard cannot be read', async () => {
    const [event] = await overdue(1)
    const shard = await bench.stores.shards.shardFor(event?.sourceId ?? '')
    const db: Db = {
      ...bench.db,
      async query(input) {
        const read = Object.values(input.ExpressionAttributeValues ?? {})
        if (read.includes(`DUE#${shard}`)) return bench.db.query(input)
        throw new Error('The store is away')
      },
    }
    const kept = await storesOn(db, bench.clock).retention.extendOverdue()
    expect(kept).toMatchObject({ tasks: 1, failures: 7 })
  })
})
