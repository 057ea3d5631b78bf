import type { TestClock } from '@strongroom/kit/testing/test-clock'
import type { Timers } from '../../src/timers.ts'

export interface TestTimers extends Timers {
  /** Runs every timer whose time has come by the clock, in the order of their times. */
  runDue(): void
  isAnyDue(): boolean
  /** How many are waiting. */
  readonly waiting: number
}

export function testTimers(clock: TestClock): TestTimers {
  const waiting = new Set<{ at: number; run: () => void }>()
  const due = () =>
    [...waiting].filter(({ at }) => at <= clock.now()).toSorted((a, b) => a.at - b.at)
  function after(ms: number, run: () => void) {
    const timer = { at: clock.now() + ms, run }
    waiting.add(timer)
    return () => void waiting.delete(timer)
  }
  return {
    after,
    untilOver(ms) {
      const end = clock.now() + ms
      return () => new Promise<void>((resolve) => void after(end - clock.now(), resolve))
    },
    runDue() {
      for (const timer of due()) if (waiting.delete(timer)) timer.run()
    },
    isAnyDue: () => due().length > 0,
    get waiting() {
      return waiting.size
    },
  }
}
