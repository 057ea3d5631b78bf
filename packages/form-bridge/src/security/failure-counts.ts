/** Counts of failures in memory: what a process has seen is enough to notice who keeps trying. */
import { type Clock, isRecent } from '@strongroom/kit/clock'

const REMEMBERED = 10_000

interface Count {
  since: number
  /** Of failures that count once each. */
  whats: Set<string>
  n: number
}

export function createFailureCounts(clock: Clock) {
  const counts = new Map<string, Count>()

  return {
    /** How many there were with this one, in a stretch of so many seconds. */
    add(name: string, seconds: number, what?: string): number {
      let count = counts.get(name)
      if (!count || !isRecent(clock, count.since, seconds * 1000)) {
        counts.delete(name)
        const [oldest] = counts.keys()
        if (counts.size >= REMEMBERED && oldest !== undefined) counts.delete(oldest)
        count = { since: clock.now(), whats: new Set(), n: 0 }
        counts.set(name, count)
      }
      if (what === undefined) count.n += 1
      else count.whats.add(what)
      return count.n + count.whats.size
    },

    clear(name: string): void {
      counts.delete(name)
    },
  }
}
