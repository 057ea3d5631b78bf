/**
 * Looks now and then for work that nobody does, and keeps what it is about. Every process does this,
 * also one that only receives: the one that should deliver may be the one that is away.
 */
import type { Log } from '@strongroom/kit/log'
import type { DataLayer } from '../db/data-layer.ts'
import type { Timers } from './timers.ts'

const EVERY_MS = 600_000

export function createKeeper({
  layer,
  timers,
  log,
}: {
  layer: Pick<DataLayer, 'keeping'>
  timers: Timers
  log: Log
}) {
  const closing = new AbortController()
  let stop = () => {}
  let underWay = Promise.resolve()

  async function look(): Promise<void> {
    try {
      const kept = await layer.keeping.keepOverdue(closing.signal)
      const { tasks, failures, firstError: error } = kept
      if (failures > 0) {
        log.error('Some overdue work could not be kept: see the first error', {
          tasks,
          failures,
          error,
        })
      } else if (tasks > 0) {
        log.warn('Overdue work is kept longer: see that a worker runs', { tasks })
      }
    } catch (error) {
      log.error('Overdue work cannot be looked for: it is tried again', { error })
    }
    // Only now: with much to keep, or a slow store, looking may take longer than the pause.
    if (!closing.signal.aborted) stop = timers.after(EVERY_MS, start)
  }

  function start(): void {
    underWay = look()
  }

  return {
    start,
    /** Ends what is under way between two tasks: the next process goes on. */
    async close(): Promise<void> {
      closing.abort()
      stop()
      await underWay
    },
  }
}
