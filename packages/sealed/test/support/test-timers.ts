import type { TestClock } from '@strongroom/kit/testing/test-clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { StartWait } from '../../src/secrets/constant-time.ts'

export interface TestTimers {
  startTimer: StartTimer
  startWait: StartWait
  /** Runs every timer that is due by the clock, in order of time. */
  runDue(): void
  isAnyDue(): boolean
  /** How many are waiting. */
  readonly waiting: number
}

export function testTimers(clock: TestClock): TestTimers {
  const waiting = new Set<{ at: number; run: () => void }>()
  const due = () =>
    [...waiting].filter(({ at }) => at <= clock.now()).toSorted((a, b) => a.at - b.at)
  const startTimer: StartTimer = (ms, run) => {
    const timer = { at: clock.now() + ms, run }
    waiting.add(timer)
    return () => void waiting.delete(timer)
  }
  return {
    startTimer,
    startWait(ms) {
      const end = clock.now() + ms
      return () => new Promise<void>((resolve) => void startTimer(end - clock.now(), resolve))
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
