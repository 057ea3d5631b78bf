import { expect, test } from 'vitest'
import { testClock } from '../src/testing/test-clock.ts'
import { createTokenBucket } from '../src/token-bucket.ts'

test('a token bucket allows a burst of one second and then the rate', () => {
  const clock = testClock()
  const bucket = createTokenBucket(clock)
  expect([bucket.take(2), bucket.take(2), bucket.take(2)]).toStrictEqual([0, 0, 500])
  clock.advance({ ms: 500 })
  expect([bucket.take(2), bucket.take(2)]).toStrictEqual([0, 500])
  clock.advance({ hours: 1 })
  expect([bucket.take(2), bucket.take(2), bucket.take(2)]).toStrictEqual([0, 0, 500])
})

test('a token bucket of less than one a second collects up to one token', () => {
  const clock = testClock()
  const bucket = createTokenBucket(clock)
  expect(bucket.take(0.5)).toBe(1_000)
  clock.advance({ seconds: 1 })
  expect([bucket.take(0.5), bucket.take(0.5)]).toStrictEqual([0, 2_000])
})

test('a token bucket loses nothing when the clock is set back', () => {
  let now = 1_000_000
  const bucket = createTokenBucket({ now: () => now })
  expect(bucket.take(2)).toBe(0)
  now -= 60_000
  expect([bucket.take(2), bucket.take(2)]).toStrictEqual([0, 500])
})
