import { expect, test } from 'vitest'
import { epochSeconds, isRecent, systemClock } from '../src/clock.ts'

const at = (ms: number) => ({ now: () => ms })

test('epoch seconds are rounded down', () => {
  expect(epochSeconds(at(1_999))).toBe(1)
})

test('a moment is recent until the given time has passed', () => {
  expect(isRecent(at(1_000), 1_000, 100)).toBe(true)
  expect(isRecent(at(1_099), 1_000, 100)).toBe(true)
  expect(isRecent(at(1_100), 1_000, 100)).toBe(false)
})

test('a moment in the future is not recent, because the clock was set back', () => {
  expect(isRecent(at(999), 1_000, 100)).toBe(false)
})

test('the system clock has the time of the system', () => {
  const before = Date.now()
  expect(systemClock.now()).toBeGreaterThanOrEqual(before)
})
