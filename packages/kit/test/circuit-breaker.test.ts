import { describe, expect, test } from 'vitest'
import { type CircuitBreakerOptions, createCircuitBreaker } from '../src/circuit-breaker.ts'
import { testClock } from '../src/testing/test-clock.ts'

function setUp(options: Partial<CircuitBreakerOptions> = {}) {
  const clock = testClock(1_000_000)
  const breaker = createCircuitBreaker({ clock, failures: 3, openMs: 1_000, ...options })
  const fail = (times = 1) => {
    for (let time = 0; time < times; time++) breaker.begin()('failed')
  }
  const waitMs = () => {
    const until = breaker.openUntil()
    return until === undefined ? 0 : until - clock.now()
  }
  return { clock, breaker, fail, waitMs }
}

describe('a circuit breaker', () => {
  test('opens after consecutive failures and lets one probe through after its open time', () => {
    const { clock, breaker, fail, waitMs } = setUp()
    expect([breaker.isIdle, breaker.isOpen]).toStrictEqual([true, false])
    fail(2)
    expect([breaker.isIdle, waitMs()]).toStrictEqual([false, 0])
    fail()
    expect([breaker.isOpen, waitMs()]).toStrictEqual([true, 1_000])

    clock.advance({ ms: 1_000 })
    expect([breaker.isOpen, waitMs()]).toStrictEqual([true, 0])
    const end = breaker.begin()
    expect(waitMs()).toBe(5_000)
    end('ok')
    expect([breaker.isIdle, waitMs()]).toStrictEqual([true, 0])
  })

  test('resets its count after a success', () => {
    const { breaker, fail } = setUp()
    fail(2)
    breaker.begin()('ok')
    fail(2)
    expect(breaker.isOpen).toBe(false)
  })

  test('opens for the same time again when the probe fails', () => {
    const { clock, fail, waitMs } = setUp()
    fail(3)
    clock.advance({ ms: 1_000 })
    fail()
    expect(waitMs()).toBe(1_000)
  })

  test('doubles its open time up to the maximum, until a call succeeds', () => {
    const { clock, breaker, fail, waitMs } = setUp({ maxOpenMs: 3_000 })
    fail(3)
    const waits = [1, 2, 3].map(() => {
      clock.advance({ ms: waitMs() })
      fail()
      return waitMs()
    })
    expect(waits).toStrictEqual([2_000, 3_000, 3_000])
    clock.advance({ ms: 3_000 })
    breaker.begin()('ok')
    fail(3)
    expect(waitMs()).toBe(1_000)
  })

  test('ignores failures of calls that began before it opened', () => {
    const { clock, breaker, fail, waitMs } = setUp()
    const early = breaker.begin()
    fail(3)
    clock.advance({ ms: 400 })
    early('failed')
    expect(waitMs()).toBe(600)
  })

  test('closes when a call that began before it opened succeeds', () => {
    const { breaker, fail } = setUp()
    const early = breaker.begin()
    fail(3)
    early('ok')
    expect(breaker.isIdle).toBe(true)
  })

  test('lets another probe through after one whose result is unknown', () => {
    const { clock, breaker, fail, waitMs } = setUp()
    fail(3)
    clock.advance({ ms: 1_000 })
    breaker.begin()('unknown')
    expect([breaker.isOpen, waitMs()]).toStrictEqual([true, 0])
  })

  test('lets another probe through when the last has not ended in time', () => {
    const { clock, breaker, fail, waitMs } = setUp({ probeTimeoutMs: 5_000 })
    fail(3)
    clock.advance({ ms: 1_000 })
    const slow = breaker.begin()
    expect(waitMs()).toBe(5_000)
    clock.advance({ ms: 5_000 })
    expect(waitMs()).toBe(0)
    breaker.begin()
    slow('unknown')
    expect(waitMs()).toBe(5_000)
  })

  test('lets calls through after the clock was set back', () => {
    let now = 1_000_000
    const breaker = createCircuitBreaker({
      clock: { now: () => now },
      failures: 1,
      openMs: 1_000,
      probeTimeoutMs: 1_000,
    })
    breaker.begin()('failed')
    now -= 60_000
    expect(breaker.openUntil()).toBeUndefined()
    breaker.begin()
    now -= 60_000
    expect(breaker.openUntil()).toBeUndefined()
  })
})
