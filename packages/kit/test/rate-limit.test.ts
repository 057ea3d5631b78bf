import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { createRateLimiter } from '../src/rate-limit.ts'
import { retryingDb } from '../src/retrying-db.ts'
import {
  allowance,
  type Cells,
  emptyCells,
  type RateLimit,
  rollCells,
  secondsUntilAdmitted,
} from '../src/sliding-window.ts'
import { defineTable } from '../src/table.ts'
import { hostileDb } from '../src/testing/hostile-db.ts'
import { testStores } from '../src/testing/stores.ts'
import { testClock } from '../src/testing/test-clock.ts'

const table = defineTable({
  name: 'counters',
  description: 'Rate limit counters',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  ttl: 'ttl',
  pointInTimeRecovery: false,
})

const minute: RateLimit = { name: 'm', limit: 5, windowSeconds: 60 }
const hour: RateLimit = { name: 'h', limit: 8, windowSeconds: 3600 }

describe('a sliding window', () => {
  const Rate = fc.record({
    name: fc.constant('x'),
    limit: fc.integer({ min: 1, max: 50 }),
    windowSeconds: fc.integer({ min: 1, max: 120 }),
  })
  const Gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 90_000 })), {
    maxLength: 300,
  })

  /** Makes a request at each time; returns the times that were admitted. */
  function admissions(rate: RateLimit, moments: number[]): number[] {
    let cells: Cells = emptyCells
    return moments.filter((now) => {
      cells = rollCells(cells, rate, now)
      if (cells.current >= allowance(cells, rate, now)) return false
      cells = { ...cells, current: cells.current + 1 }
      return true
    })
  }

  const at = (gaps: number[]) => {
    let now = 1_700_000_000_000
    return gaps.map((gap) => (now += gap))
  }

  test('admits exactly the limit of a burst inside one window, starting from empty', () => {
    fc.assert(
      fc.property(Rate, fc.nat(1000), fc.nat(), (rate, extra, offset) => {
        const windowMs = rate.windowSeconds * 1000
        const start = Math.floor(1_700_000_000_000 / windowMs) * windowMs + (offset % windowMs)
        const burst = Array.from({ length: rate.limit + extra }, () => start)
        expect(admissions(rate, burst)).toHaveLength(rate.limit)
      }),
    )
  })

  test('admits at most twice the limit in any period of one window, and at least one in two', () => {
    fc.assert(
      fc.property(Rate, Gaps, (rate, gaps) => {
        const moments = at(gaps)
        const admitted = admissions(rate, moments)
        const windowMs = rate.windowSeconds * 1000
        for (const from of admitted) {
          const inside = admitted.filter((each) => each >= from && each < from + windowMs)
          expect(inside.length).toBeLessThanOrEqual(2 * rate.limit)
        }
        for (const asked of moments) {
          const near = admitted.some((each) => Math.abs(each - asked) <= 2 * windowMs)
          expect(near).toBe(true)
        }
      }),
    )
  })

  test('reports a time after which a rejected caller is admitted', () => {
    const Counted = fc.record({ current: fc.nat(50), previous: fc.nat(50), elapsed: fc.nat() })
    fc.assert(
      fc.property(Rate, Counted, (rate, { current, previous, elapsed }) => {
        const windowMs = rate.windowSeconds * 1000
        const window = Math.floor(1_700_000_000 / rate.windowSeconds) * rate.windowSeconds
        const cells = {
          window,
          current: Math.min(current, rate.limit),
          previous: Math.min(previous, rate.limit),
        }
        const now = window * 1000 + (elapsed % windowMs)
        const later = now + secondsUntilAdmitted(cells, rate, now) * 1000
        const then = rollCells(cells, rate, later)
        expect(then.current).toBeLessThan(allowance(then, rate, later))
      }),
    )
  })

  test('does not move back for a machine whose clock is behind', () => {
    const begin = 1_700_000_040_000
    const cells = { ...rollCells(emptyCells, minute, begin), current: 5 }
    expect(rollCells(cells, minute, begin - 300_000)).toEqual(cells)
  })

  test('in the future is dropped after the clock was set back', () => {
    const full = { ...rollCells(emptyCells, minute, 1_700_000_040_000), current: 5, previous: 5 }
    const back = rollCells(full, minute, 1_700_000_040_000 - 3_600_000)
    expect(back).toEqual({ window: 1_700_000_040 - 3_600, current: 0, previous: 0 })
  })
})

describe.each(testStores())('a rate limiter on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let callers = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [table])
  })
  afterAll(() => close())

  const newCaller = () => ({ PK: `RATE#${++callers}`, SK: 'WINDOW' })

  function setUp(limits: [RateLimit, ...RateLimit[]], on = db) {
    const clock = testClock('2100-01-01T00:00:10.000Z')
    const limiter = () => createRateLimiter({ db: on, table, clock, limits })
    return { clock, limiter, ...limiter() }
  }

  const admittedOf = (decisions: { admitted: boolean }[]) =>
    decisions.filter(({ admitted }) => admitted).length

  test('stores one item with the cells of each limit and a time to live', async () => {
    const { take } = setUp([minute, hour])
    const key = newCaller()
    await take(key)
    await take(key)
    const { Item } = await db.getItem({ TableName: 'counters', Key: key })
    const start = Date.parse('2100-01-01T00:00:00Z') / 1000
    expect(Item).toEqual({
      ...key,
      m_win: start,
      m_cur: 2,
      m_prev: 0,
      h_win: start,
      h_cur: 2,
      h_prev: 0,
      ttl: start + 10 + 7200,
    })
  })

  test('admits exactly the limit of 400 requests, 64 at a time from two machines', async () => {
    const rate = { name: 'm', limit: 90, windowSeconds: 60 }
    const { limiter } = setUp([rate])
    const machines = [limiter(), limiter()]
    const key = newCaller()
    let admitted = 0
    let asked = 0
    const worker = async (machine: number) => {
      while (asked++ < 400) {
        const decision = await machines[machine % 2]?.take(key)
        if (decision?.admitted) admitted++
      }
    }
    await Promise.all(Array.from({ length: 64 }, (_, index) => worker(index)))
    expect(admitted).toBe(90)
  })

  test('admits about one limit, not two, of a burst around the end of a window', async () => {
    const { clock, take } = setUp([{ name: 'm', limit: 50, windowSeconds: 60 }])
    const key = newCaller()
    clock.advance({ seconds: 49, ms: 900 })
    const before = await Promise.all(Array.from({ length: 60 }, () => take(key)))
    clock.advance({ ms: 200 })
    const after = await Promise.all(Array.from({ length: 60 }, () => take(key)))
    expect([admittedOf(before), admittedOf(after)]).toEqual([50, 1])
  })

  test('does not count a request in any limit if one limit rejects it', async () => {
    const { clock, take } = setUp([minute, hour])
    const key = newCaller()
    for (let request = 0; request < 7; request++) await take(key)
    const { Item } = await db.getItem({ TableName: 'counters', Key: key })
    expect(Item).toMatchObject({ m_cur: 5, h_cur: 5 })
    clock.advance({ minutes: 2 })
    const decisions = []
    for (let request = 0; request < 5; request++) decisions.push(await take(key))
    expect(admittedOf(decisions)).toBe(3)
    expect(decisions.at(-1)).toMatchObject({ limit: hour, remaining: 0 })
  })

  test('reports what remains, when the window ends, and when to retry', async () => {
    const { clock, take } = setUp([minute])
    const key = newCaller()
    expect(await take(key)).toEqual({
      admitted: true,
      limit: minute,
      remaining: 4,
      resetSeconds: 50,
      retryAfterSeconds: 0,
    })
    for (let request = 0; request < 4; request++) await take(key)
    const refusal = await take(key)
    expect(refusal).toMatchObject({ admitted: false, remaining: 0, resetSeconds: 50 })
    clock.advance({ seconds: refusal.retryAfterSeconds })
    expect((await take(key)).admitted).toBe(true)
  })

  test('admits again after the clock was set back, on the machine that rejected and on others', async () => {
    let now = Date.parse('2100-01-01T00:00:10.000Z')
    const clock = { now: () => now }
    const limiter = () => createRateLimiter({ db, table, clock, limits: [minute, hour] })
    const { take } = limiter()
    const key = newCaller()
    for (let request = 0; request < 5; request++) await take(key)
    expect(await take(key)).toMatchObject({ admitted: false })
    now -= 3_600_000
    const decisions = [await take(key), await limiter().take(key)]
    expect(decisions).toMatchObject([
      { admitted: true, remaining: 4 },
      { admitted: true, remaining: 3 },
    ])
  })

  test('rejects a caller that is known to be over its limit without calling the store', async () => {
    let writes = 0
    const counting: Db = { ...db, updateItem: (input) => (writes++, db.updateItem(input)) }
    const { take } = setUp([minute], counting)
    const key = newCaller()
    for (let request = 0; request < 100; request++) await take(key)
    expect(writes).toBe(5)
  })

  test('admits again after the store has deleted the counters', async () => {
    const { take } = setUp([minute])
    const key = newCaller()
    await take(key)
    await db.deleteItem({ TableName: 'counters', Key: key })
    expect(await take(key)).toMatchObject({ admitted: true, remaining: 4 })
  })

  test('adds a limit that is newer than the counters of a caller', async () => {
    const key = newCaller()
    await setUp([minute]).take(key)
    expect(await setUp([minute, hour]).take(key)).toMatchObject({ admitted: true, remaining: 3 })
    const { Item } = await db.getItem({ TableName: 'counters', Key: key })
    expect(Item).toMatchObject({ m_cur: 2, h_cur: 1 })
  })

  test('never admits more than the limit on a store that throttles, conflicts and loses responses', async () => {
    const hostile = hostileDb(db, { seed: 7, throttle: 0.1, conflict: 0.1, lostResponse: 0.05 })
    const { take } = setUp([minute], retryingDb(hostile, { pause: async () => {} }))
    const key = newCaller()
    const decisions = await Promise.allSettled(Array.from({ length: 60 }, () => take(key)))
    const admitted = decisions.filter(
      (outcome) => outcome.status === 'fulfilled' && outcome.value.admitted,
    )
    expect(admitted.length).toBeLessThanOrEqual(5)
    const { Item } = await db.getItem({ TableName: 'counters', Key: key })
    expect(Item?.m_cur).toBe(5)
  })
})
