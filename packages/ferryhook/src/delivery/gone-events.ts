/**
 * Tells of tasks whose event is gone. Its owner may have deleted it; but after a time in which nothing
 * ran at all it may have expired undelivered, and then nothing else would tell.
 */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { WorkerMetrics } from './metrics.ts'
import { createSeldom } from './seldom.ts'

export type GoneEvents = ReturnType<typeof createGoneEvents>

export function createGoneEvents({
  clock,
  log,
  metrics,
}: {
  clock: Clock
  log: Log
  metrics: Pick<WorkerMetrics, 'eventGone'>
}) {
  const seldom = createSeldom(clock)
  return {
    /** So many tasks have ended because there was nothing left to do them with. */
    met(kind: 'route' | 'deliver' | 'wait', many = 1): void {
      if (many === 0) return
      metrics.eventGone(kind, many)
      seldom(() =>
        log.warn('Work ended because its event is gone: deleted, or expired while nothing ran'),
      )
    },
  }
}
