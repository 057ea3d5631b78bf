import { createCircuitBreaker } from '@strongroom/kit/circuit-breaker'
import { StoreBusy } from '@strongroom/kit/db-errors'
import { newId } from '@strongroom/kit/ids'
import { silentLog } from '@strongroom/kit/log'
import { createTokenBucket } from '@strongroom/kit/token-bucket'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createIngestCounters } from '../../src/ingest/counters.ts'
import { createMinuteLimit, createMonthLimit } from '../../src/ingest/limits.ts'
import { createDeadline } from '../../src/ingest/deadline.ts'
import { createSourceCache, type CachedSource } from '../../src/ingest/source-cache.ts'
import { monthStart } from '../../src/storage/time.ts'
import { createDestinationCache } from '../../src/worker/destination-cache.ts'
import { createRouter } from '../../src/worker/router.ts'
import { openWorkbench, storesOn, type Workbench } from '../support/test-stores.ts'

/** A system clock that can be set. */
function settableClock() {
  let now = testClock().now()
  return { now: () => now, setBack: (ms: number) => void (now -= ms) }
}

describe('after the clock was set back', () => {
  test('ingest does not use cache entries from the future', async () => {
    const clock = settableClock()
    const sourceId = newId('src')
    const load = vi.fn<() => Promise<CachedSource | undefined>>(
      async () => ({ source: { sourceId } }) as CachedSource,
    )
    const cache = createSourceCache({ clock, load })
    await cache.get(sourceId)
    await cache.get(sourceId)
    expect(load).toHaveBeenCalledTimes(1)
    clock.setBack(86_400_000)
    load.mockResolvedValue(undefined)
    expect(await cache.get(sourceId)).toBeUndefined()
    clock.setBack(86_400_000)
    expect(await cache.get(sourceId)).toBeUndefined()
    expect(load).toHaveBeenCalledTimes(3)
  })

  test('ingest does not wait longer for an unresponsive store', async () => {
    const clock = settableClock()
    const looks: (() => void)[] = []
    const startTimer = (_ms: number, call: () => void) => (looks.push(call), () => {})
    const inTime = createDeadline({ clock, startTimer, maxMs: 8_000 })
    const givenUp = vi.fn<(reason: Error) => void>()
    inTime(new Promise(() => {})).catch(givenUp)
    clock.setBack(3_600_000)
    const begun = vi.fn<(reason: Error) => void>()
    inTime(new Promise(() => {})).catch(begun)
    looks.shift()?.()
    await new Promise(setImmediate)
    expect(givenUp).toHaveBeenCalledWith(expect.any(StoreBusy))
    expect(begun).not.toHaveBeenCalled()
  })

  test('a source that reached its limit in the future is not rejected until then', () => {
    const clock = settableClock()
    const { take } = createMinuteLimit(clock)
    const sourceId = newId('src')
    take(sourceId, 1)
    expect(take(sourceId, 1)).toMatchObject({ remaining: 0 })
    clock.setBack(3_600_000)
    expect(take(sourceId, 1)).toBeUndefined()
    expect(take(sourceId, 1)).toMatchObject({ remaining: 0 })
  })

  test('events count for the current month, not for a future one', () => {
    const clock = settableClock()
    clock.setBack(-40 * 86_400_000)
    const { decide } = createMonthLimit(clock)
    const limits = { eventsPerMinute: 1, eventsPerMonth: 1, refusesBeyondMonth: true }
    const known = { usage: { month: monthStart(testClock().now()), events: 1 } } as CachedSource
    expect(decide(known, limits)).toMatchObject({ admitted: true })
    clock.setBack(40 * 86_400_000)
    expect(decide(known, limits)).toEqual({ admitted: false })
  })

  test('rejected requests in a repeated hour are added to the earlier ones', async () => {
    const clock = settableClock()
    const put = vi.fn<(counter: { hour: number; writerId: string }) => Promise<void>>(
      async () => {},
    )
    const counters = createIngestCounters({
      store: { put },
      clock,
      log: silentLog,
      startTimer: () => () => {},
    })
    const source = { sourceId: newId('src'), userId: newId('usr') }
    for (const move of [0, -3_600_000, 3_600_000]) {
      clock.setBack(move)
      counters.add(source, 'minute')
      await counters.flush()
    }
    const written = put.mock.calls.map(([{ hour, writerId }]) => `${hour} ${writerId}`)
    expect(new Set(written).size).toBe(3)
  })

  test('a worker reads connections again and evicts what it has cached', async () => {
    const clock = settableClock()
    const source = { sourceId: newId('src'), userId: newId('usr') }
    const listBySource = vi.fn<() => Promise<[]>>(async () => [])
    const get = vi.fn<() => Promise<null>>(async () => null)
    const destinations = createDestinationCache({
      stores: {
        sources: { getOwned: async () => null },
        connections: { listBySource, get },
      } as never,
      clock,
      open: {} as never,
      scheduler: {} as never,
      config: { cacheMs: 2_000, concurrency: 1 },
    })
    const connection = { ...source, connectionId: newId('conn') }
    const ask = () => Promise.all([destinations.forSource(source), destinations.get(connection)])
    await ask()
    await ask()
    expect([listBySource, get].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    clock.setBack(3_600_000)
    await ask()
    expect([listBySource, get].map(({ mock }) => mock.calls.length)).toEqual([2, 2])
  })

  test('a worker schedules the metering of a source again', async () => {
    const clock = settableClock()
    const plan = vi.fn<() => Promise<number>>(async () => clock.now() + 300_000)
    const routing = createRouter({
      stores: {
        metering: { plan },
        events: { getForTask: async () => null },
        routing: { route() {} },
      },
      clock,
      destinations: { forSource: async () => ({ destinations: [] }) },
      missingEvents: { report() {} },
    } as never)
    const task = { sourceId: newId('src') }
    const route = () => routing.route(task as never, () => true)
    await route()
    await route()
    expect(plan).toHaveBeenCalledTimes(1)
    clock.setBack(3_600_000)
    await route()
    expect(plan).toHaveBeenCalledTimes(2)
  })

  test('a breaker that opened in the future lets a probe through', () => {
    const clock = settableClock()
    const circuit = createCircuitBreaker({ clock, failures: 1, openMs: 30_000, maxOpenMs: 100_000 })
    circuit.begin()('failed')
    expect(circuit.openUntil()).toBe(clock.now() + 30_000)
    clock.setBack(3_600_000)
    expect(circuit.openUntil()).toBeUndefined()
    circuit.begin()
    expect(circuit.openUntil()).toBe(clock.now() + 5_000)
  })

  test('a rate limit per second does not become one per hour', () => {
    const clock = settableClock()
    const bucket = createTokenBucket(clock)
    expect(bucket.take(1)).toBe(0)
    clock.setBack(3_600_000)
    expect(bucket.take(1)).toBe(1_000)
  })

  describe.each(serviceStores())('on $name', (store) => {
    let bench: Workbench
    beforeAll(async () => {
      bench = await openWorkbench({ store })
    })
    afterAll(() => bench.close())

    test('the number of shards is read again', async () => {
      const clock = settableClock()
      const { shards } = storesOn(bench.db, { ...clock, advance: () => {} })
      expect(await shards.count()).toBe(8)
      await bench.stores.shards.increase(16)
      expect(await shards.count()).toBe(8)
      clock.setBack(3_600_000)
      expect(await shards.count()).toBe(16)
    })
  })
})
