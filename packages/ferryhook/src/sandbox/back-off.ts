/** Delays the jobs of owners whose threads had to be killed, longer each time. */
import type { Clock } from '@strongroom/platform/clock'
import { LRUCache } from 'lru-cache'

export interface BackOffOptions {
  /** After the first killed thread; doubled by each further one. */
  baseMs: number
  maxMs: number
  /** How long after the last killed thread an owner counts as suspect. */
  suspectMs: number
}

export interface BackOff {
  /** A thread was killed because of a job of this owner. */
  report(owner: string): void
  /** Whether jobs of this owner must not run now. */
  isBackedOff(owner: string): boolean
  /** Whether a job of this owner is likely to hang again. */
  isSuspect(owner: string): boolean
}

const MAX_OWNERS = 10_000

interface Offence {
  kills: number
  killedAt: number
}

export function createBackOff(clock: Clock, { baseMs, maxMs, suspectMs }: BackOffOptions): BackOff {
  const offences = new LRUCache<string, Offence>({ max: MAX_OWNERS })

  function recent(owner: string, withinMs: (offence: Offence) => number): Offence | undefined {
    const offence = offences.get(owner)
    if (!offence) return undefined
    const age = clock.now() - offence.killedAt
    // A negative age means that the clock was set back.
    return age >= 0 && age < withinMs(offence) ? offence : undefined
  }

  const suspect = (owner: string) => recent(owner, () => suspectMs)

  return {
    report(owner) {
      const kills = (suspect(owner)?.kills ?? 0) + 1
      offences.set(owner, { kills, killedAt: clock.now() })
    },
    isBackedOff: (owner) =>
      recent(owner, ({ kills }) => Math.min(maxMs, baseMs * 2 ** (kills - 1))) !== undefined,
    isSuspect: (owner) => suspect(owner) !== undefined,
  }
}
