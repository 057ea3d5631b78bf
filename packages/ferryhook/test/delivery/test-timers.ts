/** Timers that run with a test clock: time passes when a test says so. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TestClock } from '@strongroom/kit/testing/test-clock'
import type { Timers } from '../../src/delivery/timers.ts'

export interface TestTimers extends Timers {
  /** Lets time pass, calling what is due on the way, each at its own time. */
  pass(ms: number): Promise<void>
  /** Lets time pass, second by second, until something is done. */
  until<T>(done: Promise<T>): Promise<T>
}

export function testTimers(clock: TestClock): TestTimers {
  const timers = new Set<{ at: number; call: () => void }>()

  async function pass(ms: number): Promise<void> {
    const until = clock.now() + ms
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)
      if (!next) break
      clock.advance({ ms: Math.max(0, next.at - clock.now()) })
      timers.delete(next)
      next.call()
      await nextTurn()
    }
    clock.advance({ ms: until - clock.now() })
  }

  return {
    after(ms, call) {
      const timer = { at: clock.now() + ms, call }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    pass,
    async until(done) {
      const state = { isDone: false }
      const end = () => (state.isDone = true)
      done.then(end, end)
      while (!state.isDone) {
        // What goes on in sockets and in the store needs turns of the loop, not time of the clock.
        for (let turn = 0; turn < 50 && !state.isDone; turn++) await nextTurn()
        if (!state.isDone) await pass(1_000)
      }
      return done
    },
  }
}
