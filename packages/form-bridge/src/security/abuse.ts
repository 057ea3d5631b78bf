/**
 * Patterns of abuse: detected by counting failures, stored, and acted upon. Every detection while an
 * earlier one is remembered is one step worse: an alert, then a quarter of the limits, then nothing
 * for an hour, then nothing for a day.
 *
 * An address is held back only before it is known whose request it is: a site that signs its requests
 * is not answerable for its neighbours at the same host.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import { formBridgeError } from '../errors.ts'
import type { Abuse, AbusePatternType } from '../items/abuse.ts'
import type { createAbusePatterns } from '../store/abuse-patterns.ts'
import { createFailureCounts } from './failure-counts.ts'

const steps = ['low', 'medium', 'high', 'critical'] as const
const HOUR = 3600

/** So many failures within so many seconds are a pattern. */
const thresholds: Record<AbusePatternType, { failures: number; seconds: number }> = {
  registration_spam: { failures: 20, seconds: 600 },
  invalid_domains: { failures: 10, seconds: HOUR },
  api_abuse: { failures: 50, seconds: HOUR },
}

/** How long a detection slows down, and how long it blocks. */
const acts = {
  low: { slowed: 0, blocked: 0 },
  medium: { slowed: HOUR, blocked: 0 },
  high: { slowed: 24 * HOUR, blocked: HOUR },
  critical: { slowed: 24 * HOUR, blocked: 24 * HOUR },
} as const

export type AbuseWatch = ReturnType<typeof createAbuseWatch>

export function createAbuseWatch(deps: {
  clock: Clock
  log: Log
  patterns: Pick<ReturnType<typeof createAbusePatterns>, 'record' | 'of'>
}) {
  const { clock, log, patterns } = deps
  const counts = createFailureCounts(clock)

  async function newest(pattern_type: AbusePatternType, identifier: string) {
    const { items } = await patterns.of({ pattern_type, identifier }, { limit: 1 })
    return items[0]
  }

  /** Seconds that are left of what a detection brought; none if the clock was set back since. */
  function left({ detected_at, severity }: Abuse, act: 'slowed' | 'blocked'): number {
    const age = (clock.now() - Date.parse(detected_at)) / 1000
    return age < 0 ? 0 : acts[severity][act] - age
  }

  return {
    /** One more failure; `what` tells failures that count only once apart, such as one domain's. */
    async failed(pattern_type: AbusePatternType, identifier: string, what?: string): Promise<void> {
      const { failures, seconds } = thresholds[pattern_type]
      const name = `${pattern_type} ${identifier}`
      if (counts.add(name, seconds, what) < failures) return
      counts.clear(name)
      const before = await newest(pattern_type, identifier)
      const step = before ? steps.indexOf(before.severity) + 1 : 0
      const severity = steps[Math.min(step, steps.length - 1)] ?? 'critical'
      const details = { failures, seconds, ...acts[severity] }
      await patterns.record({ pattern_type, identifier, severity, details })
      log.warn('Abuse was detected', { pattern: pattern_type, severity })
    },

    /** Throws if the subject is blocked for one of these. */
    async refuseBlocked(identifier: string, ...types: AbusePatternType[]): Promise<void> {
      const found = await Promise.all(types.map((type) => newest(type, identifier)))
      const seconds = Math.max(0, ...found.map((abuse) => (abuse ? left(abuse, 'blocked') : 0)))
      if (seconds <= 0) return
      throw formBridgeError('blocked', { headers: { 'retry-after': String(Math.ceil(seconds)) } })
    },

    async isSlowed(identifier: string, type: AbusePatternType): Promise<boolean> {
      const abuse = await newest(type, identifier)
      return abuse !== undefined && left(abuse, 'slowed') > 0
    },
  }
}
