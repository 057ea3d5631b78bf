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
  let stop = () => {}
  let underWay = Promise.resolve()

  async function look(): Promise<void> {
    try {
      const events = await layer.keeping.keepOverdue()
      if (events > 0) log.warn('Overdue work is kept longer: see that a worker runs', { events })
    } catch (error) {
      log.error('Overdue work cannot be looked for: it is tried again', { error })
    }
  }

  function start(): void {
    stop = timers.after(EVERY_MS, start)
    underWay = underWay.then(look)
  }

  return {
    start,
    async close(): Promise<void> {
      stop()
      await underWay
    },
  }
}
