import type { Clock } from '@strongroom/platform/clock'

export interface TestClock extends Clock {
  /** Moves time forward; a negative time is an error. */
  advance(by: {
    ms?: number
    seconds?: number
    minutes?: number
    hours?: number
    days?: number
  }): void
}

/**
 * A clock that stands still until the test advances it. It starts in the far future, because DynamoDB
 * Local has its own clock and deletes what expires in the past.
 */
export function testClock(start: string | number = '2100-01-01T00:00:00.000Z'): TestClock {
  let now = typeof start === 'number' ? start : Date.parse(start)
  if (!Number.isFinite(now)) throw new RangeError(`Cannot start a test clock at "${start}"`)
  return {
    now: () => now,
    advance({ ms = 0, seconds = 0, minutes = 0, hours = 0, days = 0 }) {
      const total = ms + 1000 * (seconds + 60 * (minutes + 60 * (hours + 24 * days)))
      if (!(total >= 0)) throw new RangeError('Cannot advance a test clock backwards')
      now += total
    },
  }
}
