import { describe, expect, test } from 'vitest'
import { startDeadline } from '../src/deadline.ts'
import { testClock } from '../src/testing/test-clock.ts'
import { testTimers } from '../src/testing/test-timers.ts'

function setUp(parent?: AbortSignal) {
  const clock = testClock()
  const timers = testTimers(clock)
  let started = 0
  let running = 0
  const deps = {
    clock,
    startTimer: (ms: number, fire: () => void) => {
      started += 1
      running += 1
      const stop = timers.start(ms, fire)
      return () => {
        running -= 1
        stop()
      }
    },
    parent,
    error: (why: string) => new Error(why),
  }
  return { clock, timers, deps, timersStarted: () => started, timersRunning: () => running }
}

function withReject() {
  let reject: ((error: Error) => void) | undefined
  const promise = new Promise<never>((_, refuse) => (reject = refuse))
  return { promise, reject: (error: Error) => reject?.(error) }
}

const messageOf = (work: Promise<unknown>) => work.catch((error: Error) => error.message)

const never = new Promise<never>(() => {})

describe('a deadline', () => {
  test('starts no timer until something waits, and one for all that wait', async () => {
    const { clock, deps, timersStarted, timersRunning } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, deps)
    clock.advance({ ms: 400 })
    expect([deadline.remainingMs(), timersStarted()]).toStrictEqual([600, 0])
    await deadline.race(Promise.resolve('a'))
    await deadline.settle(Promise.resolve('b'))
    expect(deadline.signal.aborted).toBe(false)
    expect(timersStarted()).toBe(1)
    deadline.stop()
    expect(timersRunning()).toBe(0)
  })

  test('rejects a race, ends a wait as late and aborts its signal when it passes', async () => {
    const { timers, deps } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, deps)
    const race = messageOf(deadline.race(never))
    const settled = deadline.settle(never)
    const { signal } = deadline
    await timers.pass({ ms: 1_000 })
    expect(await race).toBe('timeout')
    expect(await settled).toBe('late')
    expect(signal.reason).toMatchObject({ message: 'timeout' })
    expect(deadline.remainingMs()).toBe(0)
    await expect(deadline.race(never)).rejects.toThrow('timeout')
    expect(await deadline.settle(never)).toBe('late')
  })

  test('at a fixed time counts the time before something waits', async () => {
    const { clock, timers, deps } = setUp()
    const deadline = startDeadline({ until: clock.now() + 1_000 }, deps)
    await timers.pass({ ms: 900 })
    const settled = deadline.settle(never)
    await timers.pass({ ms: 100 })
    expect(await settled).toBe('late')
  })

  test('passes on the result or the failure of work that ends in time', async () => {
    const { deps } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, deps)
    expect(await deadline.race(Promise.resolve(1))).toBe(1)
    expect(await deadline.settle(Promise.resolve(2))).toStrictEqual({ value: 2 })
    await expect(deadline.race(Promise.reject(new Error('no')))).rejects.toThrow('no')
    await expect(deadline.settle(Promise.reject(new Error('no')))).rejects.toThrow('no')
  })

  test('ignores failures after it has passed', async () => {
    const { timers, deps } = setUp()
    const deadline = startDeadline({ ms: 10 }, deps)
    const { promise: work, reject: fail } = withReject()
    const settled = deadline.settle(work)
    const race = messageOf(deadline.race(work))
    await timers.pass({ ms: 10 })
    fail(new Error('too late'))
    expect([await settled, await race]).toStrictEqual(['late', 'timeout'])
  })

  test('ends as aborted with its parent', async () => {
    const parent = new AbortController()
    const { deps, timersRunning } = setUp(parent.signal)
    const deadline = startDeadline({ ms: 1_000 }, deps)
    const race = messageOf(deadline.race(never))
    parent.abort()
    expect(await race).toBe('aborted')
    expect(deadline.signal.reason).toMatchObject({ message: 'aborted' })
    expect(timersRunning()).toBe(0)
  })

  test('has ended if its parent is already aborted', async () => {
    const { deps, timersStarted } = setUp(AbortSignal.abort())
    const deadline = startDeadline({ ms: 1_000 }, deps)
    expect(deadline.signal.aborted).toBe(true)
    await expect(deadline.race(never)).rejects.toThrow('aborted')
    expect(timersStarted()).toBe(0)
  })

  test('does not last longer because the clock was set back', () => {
    let now = 1_000_000
    const { deps } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, { ...deps, clock: { now: () => now } })
    now -= 60_000
    expect(deadline.remainingMs()).toBe(1_000)
  })
})
