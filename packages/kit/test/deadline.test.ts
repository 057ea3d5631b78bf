import { describe, expect, test } from 'vitest'
import { type Deadline, startDeadline } from '../src/deadline.ts'
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

const endOf = (deadline: Deadline) =>
  new Promise<string>((resolve) => deadline.onEnd(({ message }) => resolve(message)))

const never = new Promise<never>(() => {})

describe('a deadline', () => {
  test('starts no timer until something waits, and one for all that wait', async () => {
    const { clock, deps, timersStarted, timersRunning } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, deps)
    clock.advance({ ms: 400 })
    expect([deadline.remainingMs(), timersStarted()]).toStrictEqual([600, 0])
    deadline.onEnd(() => {})
    await deadline.settle(Promise.resolve('b'))
    expect(deadline.signal.aborted).toBe(false)
    expect(timersStarted()).toBe(1)
    deadline.stop()
    expect(timersRunning()).toBe(0)
  })

  test('calls back, ends a wait as late and aborts its signal when it passes', async () => {
    const { timers, deps } = setUp()
    const deadline = startDeadline({ ms: 1_000 }, deps)
    const end = endOf(deadline)
    const settled = deadline.settle(never)
    const { signal } = deadline
    await timers.pass({ ms: 1_000 })
    expect(await end).toBe('timeout')
    expect(await settled).toBe('late')
    expect(signal.reason).toMatchObject({ message: 'timeout' })
    expect(deadline.remainingMs()).toBe(0)
    expect([deadline.hasEnded, await endOf(deadline)]).toStrictEqual([true, 'timeout'])
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
    expect(await deadline.settle(Promise.resolve(2))).toStrictEqual({ value: 2 })
    await expect(deadline.settle(Promise.reject(new Error('no')))).rejects.toThrow('no')
  })

  test('ignores failures after it has passed', async () => {
    const { timers, deps } = setUp()
    const deadline = startDeadline({ ms: 10 }, deps)
    const { promise: work, reject: fail } = withReject()
    const settled = deadline.settle(work)
    await timers.pass({ ms: 10 })
    fail(new Error('too late'))
    expect(await settled).toBe('late')
  })

  test('ends as aborted with its parent', async () => {
    const parent = new AbortController()
    const { deps, timersRunning } = setUp(parent.signal)
    const deadline = startDeadline({ ms: 1_000 }, deps)
    const end = endOf(deadline)
    parent.abort()
    expect(await end).toBe('aborted')
    expect(deadline.signal.reason).toMatchObject({ message: 'aborted' })
    expect(timersRunning()).toBe(0)
  })

  test('has ended if its parent is already aborted', async () => {
    const { deps, timersStarted } = setUp(AbortSignal.abort())
    const deadline = startDeadline({ ms: 1_000 }, deps)
    expect(deadline.signal.aborted).toBe(true)
    expect(await endOf(deadline)).toBe('aborted')
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
