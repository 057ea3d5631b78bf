/**
 * Reports tasks whose event does not exist. Its owner may have deleted it; after a long outage it
 * may also have expired undelivered, and only this report would show that.
 */
import type { Log } from '@strongroom/kit/log'
import { createLogThrottle } from '@strongroom/kit/log-throttle'
import type { Clock } from '@strongroom/platform/clock'
import type { WorkerMetrics } from './metrics.ts'

export type MissingEvents = ReturnType<typeof createMissingEvents>

export function createMissingEvents({
  clock,
  log,
  metrics,
}: {
  clock: Clock
  log: Log
  metrics: Pick<WorkerMetrics, 'eventMissing'>
}) {
  const throttle = createLogThrottle({ clock })
  return {
    /** Tasks of this kind were deleted because their event does not exist. */
    report(kind: 'route' | 'deliver' | 'wait', count = 1): void {
      if (count === 0) return
      metrics.eventMissing(kind, count)
      throttle('event_missing', () =>
        log.warn('task dropped, its event was deleted or expired during an outage', { kind }),
      )
    },
  }
}
