/** Sweeps at the start and from then on, and counts what is stored on the way. */
import type { Clock } from '@strongroom/kit/clock'
import type { Db } from '@strongroom/kit/db'
import type { Log } from '@strongroom/kit/log'
import type { Quota } from './quota.ts'
import type { SecretStore } from './store.ts'
import { sweep } from './sweep.ts'
import type { Timers } from './timers.ts'

export interface Sweeping {
  /** Finishes the sweep that is running. */
  close(): Promise<void>
}

export function keepSweeping(options: {
  db: Db
  store: Pick<SecretStore, 'reduce'>
  quota: Pick<Quota, 'look'>
  clock: Clock
  timers: Timers
  log: Log
  everyMinutes: number
}): Sweeping {
  const { quota, clock, timers, log, everyMinutes } = options
  let cancel = () => {}
  let closed = false
  let running = round()

  async function round() {
    let wait = everyMinutes * 60_000
    try {
      const { again, damaged } = await sweep(options)
      if (again !== undefined) wait = Math.min(wait, Math.max(1000, again * 1000 - clock.now()))
      const [error] = damaged
      if (error) log.error('Cannot read some of the secrets', { count: damaged.length, error })
      await quota.look()
    } catch (error) {
      log.error('Cannot look for secrets that are over: trying again later', { error })
    }
    if (!closed) cancel = timers.after(wait, () => void (running = round()))
  }

  return {
    async close() {
      closed = true
      cancel()
      await running
    },
  }
}
