/** Lets deliveries go that waited for their connection, as many as it may have now. */
import type { Clock } from '@strongroom/kit/clock'
import type { DataLayer } from '../db/data-layer.ts'
import type { WakeTask } from '../items/task.ts'
import type { Destinations } from './destinations.ts'
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
  metrics: WorkerMetrics
}

/** Returns how many may be attempted now. */
export async function wakeConnection(task: WakeTask, deps: WakeDeps): Promise<number> {
  const { db, clock, destinations, lanes } = deps
  const { connectionId } = task
  const again = { few: MOST_AT_ONCE, againAt: clock.now() + AGAIN_MS }
  const [first] = await db.waiting.list(connectionId, 1)
  // Nobody waits: it ends by itself, unless somebody has come meanwhile.
  if (!first) return (await db.waiting.wake(task, again)).released

  const destination = await destinations.of(first)
  const overstayed = await db.waiting.failOverstayed(connectionId)
  if (overstayed > 0) {
    deps.metrics.ended('failed', overstayed)
    if (destination) deps.health.ended(destination.connection, 'failed', overstayed)
  }
  const status = destination?.connection.status ?? 'deleted'
  if (status === 'paused') await db.waiting.wake(task, { ...again, paused: true })
  // Those of a deleted one go too: they come to their end.
  if (!destination || status !== 'active') {
    return status === 'paused' ? 0 : (await db.waiting.wake(task, again)).released
  }
  const lane = lanes.of(destination)
  const { released } = await db.waiting.wake(task, {
    few: Math.min(lane.vacancies(), MOST_AT_ONCE),
    againAt: Math.max(lane.refusal()?.wakeAt ?? 0, again.againAt),
  })
  return released
}
