import { expect, test } from 'vitest'
import { testClock } from '../src/testing/test-clock.ts'

test('the test clock stands still until it is advanced', () => {
  const clock = testClock('2026-03-01T12:00:00.500Z')
  const start = clock.now()
  expect(start).toBe(Date.parse('2026-03-01T12:00:00.500Z'))
  expect(clock.now()).toBe(start)
  clock.advance({ days: 1, hours: 2, minutes: 3, seconds: 4, ms: 5 })
  expect(clock.now() - start).toBe(93_784_005)
})

test('the test clock rejects a step back and an invalid start', () => {
  expect(() => testClock().advance({ seconds: -1 })).toThrow('backwards')
  expect(() => testClock('yesterday')).toThrow('Cannot start')
})
