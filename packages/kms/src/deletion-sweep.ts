/**
 * Deletes keys whose deletion date has passed. Deletion cannot be undone, so it takes two sweeps at
 * least an hour apart: a clock that is wrong for a moment deletes nothing, and an operator who notices
 * a wrong clock can still cancel the deletion.
 */
import type { Clock } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { KeyRecord, KeyStorage } from './key-storage.ts'

const DELETION_CONFIRM_MS = 60 * 60 * 1000
const SWEEP_INTERVAL_MS = DELETION_CONFIRM_MS

interface SweepOptions {
  storage: KeyStorage
  clock: Clock
  /** Called for every key that was deleted. */
  removed(arn: string): void
}

/** A key that another process changes during the sweep is left to the next one. */
export async function sweepDueKeys({ storage, clock, removed }: SweepOptions): Promise<void> {
  for (const record of await storage.list()) {
    const { id, arn, revision, dueSeenAt } = record
    const now = clock.now()
    if (!isDue(record, now)) {
      // The clock that saw the date pass was wrong.
      if (dueSeenAt !== undefined) await storage.updateDueSeenAt(id, undefined, revision)
    } else if (dueSeenAt === undefined || dueSeenAt > now) {
      // A sighting in the future is from a clock that was set back since.
      await storage.updateDueSeenAt(id, now, revision)
    } else if (now - dueSeenAt >= DELETION_CONFIRM_MS) {
      if (await storage.remove(id, revision)) removed(arn)
    }
  }
}

function isDue({ state, deletionAt }: KeyRecord, now: number): boolean {
  return state === 'PendingDeletion' && deletionAt !== undefined && deletionAt <= now
}

/** Sweeps every hour; for processes that run for long. */
export function startDeletionSweeper(options: {
  kms: { sweep(): Promise<void> }
  startTimer: StartTimer
  onFailure(error: unknown): void
}): { close(): Promise<void> } {
  const { kms, startTimer, onFailure } = options
  let isClosed = false
  let cancelTimer = () => {}
  let running = Promise.resolve()

  function schedule() {
    if (isClosed) return
    cancelTimer = startTimer(SWEEP_INTERVAL_MS, () => {
      running = kms.sweep().catch(onFailure).then(schedule)
    })
  }

  schedule()
  return {
    async close() {
      isClosed = true
      cancelTimer()
      await running
    },
  }
}
