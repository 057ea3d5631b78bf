/**
 * Detects abuse by counting failures. Each detection while an earlier one is stored is one step more
 * severe: a warning, then a quarter of the limits, then a block for an hour, then for a day.
 *
 * An address is blocked only for requests without valid credentials, so a site that signs its
 * requests is not blocked because of another one at the same address.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import type { Log } from '@strongroom/kit/log'
import { LRUCache } from 'lru-cache'
import { formBridgeError } from '../errors.ts'
import type { AbuseStore } from './abuse-store.ts'
import type { Abuse, AbusePatternType } from './item.ts'

const SEVERITIES = ['low', 'medium', 'high', 'critical'] as const
const HOUR = 3600

/** This many failures within this time are a pattern. */
const THRESHOLDS: Record<AbusePatternType, { failures: number; seconds: number }> = {
  registration_spam: { failures: 20, seconds: 600 },
  invalid_domains: { failures: 10, seconds: HOUR },
  api_abuse: { failures: 50, seconds: HOUR },
}

/** In seconds. Stored with the detection, so the names are part of the data. */
const PENALTIES = {
  low: { slowed: 0, blocked: 0 },
  medium: { slowed: HOUR, blocked: 0 },
  high: { slowed: 24 * HOUR, blocked: HOUR },
  critical: { slowed: 24 * HOUR, blocked: 24 * HOUR },
} as const

const MAX_ENTRIES = 10_000

export type AbuseDetector = ReturnType<typeof createAbuseDetector>

export function createAbuseDetector(deps: {
  clock: Clock
  log: Log
  abusePatterns: Pick<AbuseStore, 'record' | 'listByPattern'>
}) {
  const { clock, log, abusePatterns } = deps
  const counts = createFailureCounts(clock)

  async function findNewest(pattern_type: AbusePatternType, identifier: string) {
    const { items } = await abusePatterns.listByPattern({ pattern_type, identifier }, { limit: 1 })
    return items[0]
  }

  /** Remaining seconds of a penalty; none if the clock was set back after the detection. */
  function remaining({ detected_at, severity }: Abuse, penalty: 'slowed' | 'blocked'): number {
    const age = (clock.now() - Date.parse(detected_at)) / 1000
    return age < 0 ? 0 : PENALTIES[severity][penalty] - age
  }

  return {
    /** Failures with the same `distinct` value, such as a domain, count once. */
    async recordFailure(
      pattern_type: AbusePatternType,
      identifier: string,
      distinct?: string,
    ): Promise<void> {
      const { failures, seconds } = THRESHOLDS[pattern_type]
      const name = `${pattern_type} ${identifier}`
      if (counts.add(name, seconds, distinct) < failures) return
      counts.clear(name)
      const before = await findNewest(pattern_type, identifier)
      const step = before ? SEVERITIES.indexOf(before.severity) + 1 : 0
      const severity = SEVERITIES[Math.min(step, SEVERITIES.length - 1)] ?? 'critical'
      const details = { failures, seconds, ...PENALTIES[severity] }
      await abusePatterns.record({ pattern_type, identifier, severity, details })
      log.warn('abuse detected', { pattern: pattern_type, severity })
    },

    /** Throws `blocked` if the identifier is blocked for one of the patterns. */
    async requireNotBlocked(identifier: string, ...types: AbusePatternType[]): Promise<void> {
      const found = await Promise.all(types.map((type) => findNewest(type, identifier)))
      const blocks = found.map((abuse) => (abuse ? remaining(abuse, 'blocked') : 0))
      const seconds = Math.max(0, ...blocks)
      if (seconds <= 0) return
      throw formBridgeError('blocked', { headers: { 'retry-after': String(Math.ceil(seconds)) } })
    },

    async isSlowed(identifier: string, type: AbusePatternType): Promise<boolean> {
      const abuse = await findNewest(type, identifier)
      return abuse !== undefined && remaining(abuse, 'slowed') > 0
    },
  }
}

interface FailureCount {
  since: number
  distinct: Set<string>
  others: number
}

/** In memory: the failures that one process sees are enough to detect a pattern. */
function createFailureCounts(clock: Clock) {
  const counts = new LRUCache<string, FailureCount>({ max: MAX_ENTRIES })

  return {
    /** Returns the failures within the time, including this one. */
    add(name: string, seconds: number, distinct?: string): number {
      let count = counts.get(name)
      if (!count || !isRecent(clock, count.since, seconds * 1000)) {
        count = { since: clock.now(), distinct: new Set(), others: 0 }
        counts.set(name, count)
      }
      if (distinct === undefined) count.others += 1
      else count.distinct.add(distinct)
      return count.others + count.distinct.size
    },

    clear(name: string): void {
      counts.delete(name)
    },
  }
}
