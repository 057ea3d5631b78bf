import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRetryAfter } from '../../src/outbound/exchange.ts'
import { defaultSchedule, retryDelay, retryScheduleOf } from '../../src/worker/retry-schedule.ts'

const NOW = Date.parse('2100-01-01T00:00:00.000Z')
const DAY_MS = 86_400_000

describe('the retry schedule', () => {
  test('has eight attempts over 41 hours and 17 minutes, unless the connection has its own', () => {
    expect(retryScheduleOf({})).toEqual([0, 30, 120, 900, 3_600, 14_400, 43_200, 86_400])
    expect(defaultSchedule.reduce((sum, delay) => sum + delay, 0)).toBe(41 * 3_600 + 17 * 60 + 30)
    expect(retryScheduleOf({ retryConfig: '[0,5,5]' })).toEqual([0, 5, 5])
  })

  test('varies each delay by up to a fifth in both directions', () => {
    for (let attempt = 1; attempt < 8; attempt++) {
      const base = (defaultSchedule[attempt] ?? 0) * 1000
      const delayAt = (random: number) =>
        retryDelay(defaultSchedule, attempt, { random: () => random })
      expect(delayAt(0)).toBe(base * 0.8)
      expect(delayAt(0.5)).toBe(base)
      expect(delayAt(1)).toBe(base * 1.2)
    }
  })

  test('ends after the last attempt', () => {
    const random = () => 0.5
    expect(retryDelay(defaultSchedule, 8, { random })).toBeUndefined()
    expect(retryDelay([0], 1, { random })).toBeUndefined()
    expect(retryDelay([0, 0], 1, { random })).toBe(0)
  })

  test('waits for Retry-After up to a day, and never less than the schedule says', () => {
    const random = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 7 }),
        fc.nat(10 * DAY_MS),
        random,
        (attempt, ms, chance) => {
          const delay = retryDelay(defaultSchedule, attempt, {
            random: () => chance,
            retryAfterMs: ms,
          }) as number
          const base = (defaultSchedule[attempt] ?? 0) * 1000
          expect(delay).toBeGreaterThanOrEqual(Math.min(ms, DAY_MS))
          expect(delay).toBeGreaterThanOrEqual(base * 0.8 - 1)
          expect(delay).toBeLessThanOrEqual(Math.max(base * 1.2, Math.min(ms, DAY_MS)) + 1)
        },
      ),
    )
  })
})

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['Fri, 01 Jan 2100 00:01:00 GMT', 60_000],
    ['Friday, 01-Jan-00 00:01:00 GMT', 0],
    ['Fri Jan  1 00:02:00 2100', 120_000],
    ['Thu, 31 Dec 2099 23:59:00 GMT', 0],
  ])('%j is parsed', (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms)
  })

  test.each([undefined, '', 'soon', '-5', '1.5', '1e3', '2100-01-01', '12345678901', 'Infinity'])(
    '%j is ignored',
    (header) => {
      expect(parseRetryAfter(header, NOW)).toBeUndefined()
    },
  )
})
