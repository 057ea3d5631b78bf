/**
 * Tells of tasks whose event is gone. Its owner may have deleted it; but after a time in which nothing
 * ran at all it may have expired undelivered, and then nothing else would tell.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { WorkerMetrics } from './metrics.ts'

/** There may be thousands of them at once: the metric has their number. */
const QUIET_MS = 600_000

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
  let toldAt: number | undefined
  return {
    /** So many tasks have ended because there was nothing left to do them with. */
    met(kind: 'route' | 'deliver' | 'wait', many = 1): void {
      if (many === 0) return
      metrics.eventGone(kind, many)
      if (toldAt !== undefined && isRecent(clock, toldAt, QUIET_MS)) return
      toldAt = clock.now()
      log.warn('Work ended because its event is gone: deleted, or expired while nothing ran')
    },
  }
}
