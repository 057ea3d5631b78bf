/** Timers that fire one after the other, as fast as the test awaits something. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TestClock } from '@strongroom/kit/testing/test-clock'
import type { StartTimer } from '@strongroom/platform/timers'

export interface SteppedTimers {
  start: StartTimer
  /** Waits until a timer is started, and fires it. */
  step(): Promise<void>
  /** Waits until a timer is started. */
  isSet(): Promise<void>
  /** Lets time pass, timer by timer, until the work is done. */
  until<T>(work: Promise<T>): Promise<T>
}

export function steppedTimers(clock: TestClock): SteppedTimers {
  const waiting = new Set<{ at: number; call: () => void }>()
  async function isSet(): Promise<void> {
    while (waiting.size === 0) await nextTurn()
  }

  function runOut(): void {
    const [first] = [...waiting].toSorted((a, b) => a.at - b.at)
    if (!first) return
    waiting.delete(first)
    clock.advance({ ms: Math.max(0, first.at - clock.now()) })
    first.call()
  }

  return {
    isSet,
    async step() {
      await isSet()
      runOut()
    },
    start(ms, call) {
      const timer = { at: clock.now() + ms, call }
      waiting.add(timer)
      return () => waiting.delete(timer)
    },
    async until(work) {
      const ended = { yet: false }
      const end = () => (ended.yet = true)
      work.then(end, end)
      while (!ended.yet) {
        await nextTurn()
        if (!ended.yet) runOut()
      }
      return work
    },
  }
}
