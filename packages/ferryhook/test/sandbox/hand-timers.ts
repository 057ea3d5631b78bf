/** Timers that run out when a test says so. */
import { setImmediate } from 'node:timers/promises'
import type { After } from '../../src/sandbox/thread-pool.ts'

export function handTimers() {
  const waiting = new Set<{ milliseconds: number; act: () => void }>()
  const after: After = (milliseconds, act) => {
    const timer = { milliseconds, act }
    waiting.add(timer)
    return () => waiting.delete(timer)
  }
  return {
    after,
    pending: () => waiting.size,
    /** Waits until a timer of that many milliseconds is set, and lets it run out. */
    async runOut(milliseconds: number) {
      for (;;) {
        const timer = [...waiting].find((one) => one.milliseconds === milliseconds)
        if (timer) {
          waiting.delete(timer)
          return timer.act()
        }
        await setImmediate()
      }
    },
  }
}
