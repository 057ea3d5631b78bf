/**
 * Ends secrets that were not ended on time because their process stopped. DynamoDB's TTL would
 * delete them too, within two days.
 */
import type { Db } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Log } from '@strongroom/kit/log'
import { scanAll } from '@strongroom/kit/paging'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import type { Quota } from '../abuse/quota.ts'
import { SecretItem } from '../secrets/item.ts'
import type { SecretStore } from '../secrets/store.ts'
import { secretsTable } from '../tables.ts'

export interface SweepResult {
  checked: number
  /** When the first of those with a live claim ends, in seconds; undefined if there is none. */
  nextAt: number | undefined
  /** Items that cannot be parsed. They must not prevent the others from being ended. */
  invalid: ItemMismatch[]
}

interface SweepOptions {
  db: Db
  clock: Clock
  store: Pick<SecretStore, 'endIfOver'>
}

export async function sweep({ db, clock, store }: SweepOptions): Promise<SweepResult> {
  const result: SweepResult = { checked: 0, nextAt: undefined, invalid: [] }
  for await (const id of findEndedIds(db, epochSeconds(clock))) {
    result.checked++
    try {
      const nextAt = await store.endIfOver(id)
      if (nextAt !== undefined) result.nextAt = Math.min(nextAt, result.nextAt ?? nextAt)
    } catch (error) {
      if (!(error instanceof ItemMismatch)) throw error
      result.invalid.push(error)
    }
  }
  return result
}

/** Secrets that have expired, or have no view or no passphrase attempt left. */
function findEndedIds(db: Db, now: number): AsyncGenerator<string> {
  const { attr } = entity(db, secretsTable, SecretItem)
  const filter = expr`attribute_exists(${attr('ciphertext')}) AND (${attr('expiresAt')} <= ${now}
    OR ${attr('remainingViews')} = ${0} OR ${attr('triesLeft')} = ${0})`
  const projection = expr`${attr('id')}`
  return scanAll(db, secretsTable, { filter, projection }, ({ id }) => id as string)
}

export interface Sweeper {
  /** Waits for the running sweep. */
  close(): Promise<void>
}

/** Sweeps and recounts the stored bytes now, then every few minutes. */
export function startSweeper(
  options: SweepOptions & {
    quota: Pick<Quota, 'recount'>
    startTimer: StartTimer
    log: Log
    everyMinutes: number
  },
): Sweeper {
  const { quota, clock, startTimer, log, everyMinutes } = options
  let cancelTimer = () => {}
  let isClosed = false
  let running = run()

  async function run() {
    let waitMs = everyMinutes * 60_000
    try {
      const { nextAt, invalid } = await sweep(options)
      if (nextAt !== undefined) {
        waitMs = Math.min(waitMs, Math.max(1000, nextAt * 1000 - clock.now()))
      }
      const [error] = invalid
      if (error) log.error('secrets unreadable', { count: invalid.length, error })
      await quota.recount()
    } catch (error) {
      log.error('sweep failed, retrying later', { error })
    }
    if (!isClosed) cancelTimer = startTimer(waitMs, () => void (running = run()))
  }

  return {
    async close() {
      isClosed = true
      cancelTimer()
      await running
    },
  }
}
