/** Lets deliveries go that waited for their connection, as many as it may have now. */
import type { Clock } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { WakeTask } from '../items/task.ts'
import type { Destinations } from './destinations.ts'
import type { GoneEvents } from './gone-events.ts'
import type { Health } from './health.ts'
import type { Lanes } from './lanes.ts'
import type { WorkerMetrics } from './metrics.ts'

/** One transaction each: a wake must not take longer than the time to the next. */
const MOST_AT_ONCE = 500
const AGAIN_MS = 5_000

export interface WakeDeps {
  db: Pick<DataLayer, 'waiting'>
  clock: Clock
  destinations: Destinations
  lanes: Lanes
  health: Health
  gone: GoneEvents
  metrics: WorkerMetrics
}

/** Returns how many may be attempted now. */
export async function wakeConnection(task: WakeTask, deps: WakeDeps): Promise<number> {
  const { db, clock, destinations, lanes } = deps
  const { connectionId } = task
  const again = { few: MOST_AT_ONCE, againAt: clock.now() + AGAIN_MS }
  const wake = async (options: Parameters<typeof db.waiting.wake>[1]) => {
    const { released, gone } = await db.waiting.wake(task, options)
    deps.gone.met('wait', gone)
    return released
  }
  const [first] = await db.waiting.list(connectionId, 1)
  // Nobody waits: it ends by itself, unless somebody has come meanwhile.
  if (!first) return wake(again)

  const destination = await destinations.of(first)
  const overstayed = await db.waiting.failOverstayed(connectionId)
  deps.gone.met('wait', overstayed.gone)
  if (overstayed.failed > 0) {
    deps.metrics.ended('failed', overstayed.failed)
    if (destination) deps.health.ended(destination.connection, 'failed', overstayed.failed)
  }
  const status = destination?.connection.status ?? 'deleted'
  if (status === 'paused') await wake({ ...again, paused: true })
  // Those of a deleted one go too: they come to their end.
  if (!destination || status !== 'active') return status === 'paused' ? 0 : wake(again)
  const lane = lanes.of(destination)
  return wake({
    few: Math.min(lane.vacancies(), MOST_AT_ONCE),
    againAt: Math.max(lane.refusal()?.wakeAt ?? 0, again.againAt),
  })
}
