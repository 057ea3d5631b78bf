/** How much work is due, for operators. Reads are limited, so that a long queue costs no more. */
import type { WorkStatus } from '@strongroom/kit/service-status'
import type { Clock } from '@strongroom/platform/clock'
import type { Shards } from './shards.ts'
import type { TaskQueue } from './store.ts'

/** Workers poll every few seconds, so a task that is due for longer has no worker. */
export const OVERDUE_MS = 60_000
const MAX_TASKS_PER_SHARD = 1_000

export type Backlog = Omit<WorkStatus, 'waiting'>

export async function readBacklog({
  shards,
  queue,
  clock,
}: {
  shards: Pick<Shards, 'count'>
  queue: Pick<TaskQueue, 'listDue'>
  clock: Clock
}): Promise<Backlog> {
  const numbers = Array.from({ length: await shards.count() }, (_, shard) => shard)
  const pages = await Promise.all(
    numbers.map((shard) => queue.listDue(shard, { limit: MAX_TASKS_PER_SHARD })),
  )
  const dueTimes = pages.flatMap(({ tasks }) => tasks.map(({ dueAt }) => dueAt))
  const overdueBefore = clock.now() - OVERDUE_MS
  return {
    due: dueTimes.length,
    overdue: dueTimes.filter((dueAt) => dueAt <= overdueBefore).length,
    ...(dueTimes.length > 0 && { oldestDueAt: dueTimes.reduce((a, b) => Math.min(a, b)) }),
    isComplete: pages.every(({ next }) => next === undefined),
  }
}
