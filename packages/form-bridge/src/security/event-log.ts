/**
 * Records security events. Identical events are recorded once a minute with a count, so an attacker
 * cannot fill the table. A failure to record one never fails the request: issued keys must reach
 * their site.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import { Counter, type Metrics } from '@strongroom/kit/metrics'
import type { Caller } from '../limits/caller.ts'
import type { SecurityEventStore } from './event-store.ts'
import type { SecurityEvent, SecurityEventType } from './item.ts'

const DEDUPE_MS = 60_000

export interface ReportedEvent {
  event_type: SecurityEventType
  /** Stored and a metric label: `unauthorized`, `reconnected`. */
  reason: string
  caller: Caller
  site?: { site_id: string; domain: string } | undefined
  details?: SecurityEvent['details']
}

export type SecurityEventLog = ReturnType<typeof createSecurityEventLog>

export function createSecurityEventLog(deps: {
  clock: Clock
  log: Log
  metrics: Metrics
  securityEvents: Pick<SecurityEventStore, 'record'>
}) {
  const { clock, log, metrics, securityEvents } = deps
  const throttle = createLogThrottle({ clock, quietMs: DEDUPE_MS })
  const counter = new Counter({
    name: 'form_bridge_security_events_total',
    help: 'Security events, including those that were not stored because they repeat',
    labelNames: ['type', 'reason'] as const,
    registers: [metrics.registry],
  })

  return {
    async record({ event_type, reason, caller, site, details = {} }: ReportedEvent): Promise<void> {
      counter.inc({ type: event_type, reason })
      const key = `${event_type} ${reason} ${site?.site_id ?? caller.client_ip}`
      const { client_ip, user_agent } = caller
      try {
        await throttle(key, async (repeated) => {
          await securityEvents.record({
            ...site,
            event_type,
            client_ip,
            user_agent,
            details: { ...details, reason, ...(repeated > 0 && { repeated }) },
          })
        })
      } catch (error) {
        log.error('security event not recorded', { error })
      }
    },
  }
}
