/**
 * What Slack has said about single entities, in memory alone: that one exists for five minutes,
 * that there is none for one. The oldest go first when there is no more room.
 */
import type { Clock } from '@strongroom/kit/clock'
import { isAhead } from '../lasting.ts'
import { CACHE_SECONDS } from '../table.ts'

/** A new person or channel must soon work. */
const ABSENT_MS = 60_000
const EXISTS_MS = CACHE_SECONDS * 1000
const MOST = 50_000

export interface Known<Facts> {
  facts: Facts
  /** Milliseconds since the epoch. */
  verifiedAt: number
}

export interface Knowledge<Facts> {
  /** Undefined if nothing is known any more. */
  get(key: string): Known<Facts> | 'absent' | undefined
  exists(key: string, facts: Facts): Known<Facts>
  absent(key: string): void
  forget(key: string): void
}

export function createKnowledge<Facts>(clock: Clock): Knowledge<Facts> {
  const existing = new Map<string, Known<Facts>>()
  const absentUntil = new Map<string, number>()

  return {
    get(key) {
      const now = clock.now()
      const found = existing.get(key)
      if (found && isAhead(found.verifiedAt + EXISTS_MS, now, EXISTS_MS)) return found
      if (found) existing.delete(key)
      const until = absentUntil.get(key)
      if (until === undefined) return undefined
      if (isAhead(until, now, ABSENT_MS)) return 'absent'
      absentUntil.delete(key)
      return undefined
    },

    exists(key, facts) {
      const known = { facts, verifiedAt: clock.now() }
      absentUntil.delete(key)
      keep(existing, key, known)
      return known
    },

    absent(key) {
      existing.delete(key)
      keep(absentUntil, key, clock.now() + ABSENT_MS)
    },

    forget: (key) => void existing.delete(key),
  }
}

/** Adds to a map that never holds more than so many, the latest last. */
export function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= MOST) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
