/**
 * Writes down what looks wrong. An attacker must not be able to buy storage with it: of events that
 * are alike, one a minute is written, with how many there were since the last. What was decided or
 * done before does not depend on it: keys that were made must reach their site.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import { Counter, type Metrics } from '@strongroom/kit/metrics'
import type { SecurityEvent, SecurityEventType } from '../items/security-event.ts'
import type { Caller } from '../limits/client-ids.ts'
import type { createSecurityEvents } from '../store/security-events.ts'

const QUIET_MS = 60_000
const REMEMBERED = 10_000

export interface Noticed {
  event_type: SecurityEventType
  /** What happened, in one word: `unauthorized`, `rotated`. */
  reason: string
  caller: Caller
  site?: { site_id: string; domain: string } | undefined
  details?: SecurityEvent['details']
}

export type Journal = ReturnType<typeof createJournal>

export function createJournal(deps: {
  clock: Clock
  log: Log
  metrics: Metrics
  events: Pick<ReturnType<typeof createSecurityEvents>, 'record'>
}) {
  const { clock, log, metrics, events } = deps
  const recent = new Map<string, { at: number; unwritten: number }>()
  const counter = new Counter({
    name: 'form_bridge_security_events_total',
    help: 'What looked wrong, written down or not',
    labelNames: ['type', 'reason'] as const,
    registers: [metrics.registry],
  })

  return {
    async note({ event_type, reason, caller, site, details = {} }: Noticed): Promise<void> {
      counter.inc({ type: event_type, reason })
      const alike = `${event_type} ${reason} ${site?.site_id ?? caller.client_ip}`
      const before = recent.get(alike)
      if (before && isRecent(clock, before.at, QUIET_MS)) {
        before.unwritten += 1
        return
      }
      recent.delete(alike)
      if (recent.size >= REMEMBERED) recent.clear()
      const latest = { at: clock.now(), unwritten: 0 }
      recent.set(alike, latest)
      const repeated = before?.unwritten ?? 0
      try {
        await events.record({
          ...site,
          event_type,
          ...caller,
          details: { ...details, reason, ...(repeated > 0 && { repeated }) },
        })
      } catch (error) {
        latest.unwritten += repeated + 1
        log.error('Cannot write down a security event', { error })
      }
    },
  }
}
