/** Timers that follow a test clock: time passes only when the test says so. */
import type { StartTimer } from '@strongroom/platform/timers'
import type { TestClock } from './test-clock.ts'

export interface TestTimers {
  start: StartTimer
  /** Lets time pass and fires the timers that become due. */
  pass(by: { ms?: number; seconds?: number }): Promise<void>
  /** Lets time pass, second by second, until the promise is settled. */
  until<T>(done: Promise<T>): Promise<T>
}

export function testTimers(clock: TestClock): TestTimers {
  const waiting = new Set<{ at: number; expire: () => void }>()

  function nextDue(until: number) {
    const due = [...waiting].filter(({ at }) => at <= until)
    return due.toSorted((a, b) => a.at - b.at)[0]
  }

  async function pass({ ms = 0, seconds = 0 }: { ms?: number; seconds?: number }): Promise<void> {
    const end = clock.now() + ms + 1000 * seconds
    await settle()
    for (let next = nextDue(end); next; next = nextDue(end)) {
      waiting.delete(next)
      clock.advance({ ms: Math.max(0, next.at - clock.now()) })
      next.expire()
      await settle()
    }
    clock.advance({ ms: end - clock.now() })
    await settle()
  }

  return {
    start(ms, expire) {
      const timer = { at: clock.now() + ms, expire }
      waiting.add(timer)
      return () => void waiting.delete(timer)
    },

    pass,

    async until(done) {
      const state = { isDone: false }
      const end = () => (state.isDone = true)
      done.then(end, end)
      while (!state.isDone) {
        // Sockets and the store need turns of the event loop, not time of the clock.
        for (let turn = 0; turn < 5 && !state.isDone; turn++) await settle()
        if (!state.isDone) await pass({ seconds: 1 })
      }
      return done
    },
  }
}

/** Lets pending promises and in-process calls proceed as far as they can. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) {
    await new Promise((resolve) => void setImmediate(resolve))
  }
}

/** A list of `count` values, each created with its index. */
export const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index))
