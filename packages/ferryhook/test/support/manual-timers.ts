/** Timers that fire on request. */
import { setImmediate } from 'node:timers/promises'
import type { StartTimer } from '@strongroom/platform/timers'

export function manualTimers() {
  const waiting = new Set<{ ms: number; fire: () => void }>()
  const start: StartTimer = (ms, fire) => {
    const timer = { ms, fire }
    waiting.add(timer)
    return () => waiting.delete(timer)
  }
  return {
    start,
    pending: () => waiting.size,
    /** Waits until a timer of that many milliseconds is started, and fires it. */
    async fire(ms: number) {
      for (;;) {
        const timer = [...waiting].find((one) => one.ms === ms)
        if (timer) {
          waiting.delete(timer)
          return timer.fire()
        }
        await setImmediate()
      }
    },
  }
}
