/**
 * Counts in memory, so that requests do not wait for it, and adds the counts to the item of the hour
 * once a minute. A process that is killed loses what it counted since the last minute; a lost response
 * of the store may count a minute twice.
 */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import type { Log } from '@strongroom/kit/log'
import { operationsTable } from '@strongroom/kit/operations-table'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import { type FigureName, figureNames, FiguresItem, figuresKey } from './item.ts'

export const RETENTION_DAYS = 90
const FLUSH_MS = 60_000
const HOUR_MS = 3_600_000

export type Counts = Record<FigureName, number>

export interface Figures {
  count(name: FigureName): void
  /** Each of the last hours, the oldest first, with what this process has counted since its last write. */
  list(hours: number): Promise<(Counts & { from: number })[]>
  /** Writes what was counted. */
  flush(): Promise<void>
}

export function createFigures(options: {
  db: Db
  clock: Clock
  startTimer: StartTimer
  log: Log
}): Figures {
  const { db, clock, startTimer, log } = options
  const items = entity(db, operationsTable, FiguresItem)
  const { attr } = items
  let counted = noCounts()
  let hour = hourNumber(clock.now())
  let isDirty = false
  let cancelTimer: (() => void) | undefined
  let flushing = Promise.resolve()

  function schedule(): void {
    cancelTimer ??= startTimer(FLUSH_MS, () => {
      cancelTimer = undefined
      void flush()
    })
  }

  function flush(): Promise<void> {
    cancelTimer?.()
    cancelTimer = undefined
    if (!isDirty) return flushing
    const [of, counts] = [hourOf(hour * HOUR_MS), counted]
    counted = noCounts()
    isDirty = false
    flushing = flushing.then(() => write(of, counts))
    return flushing
  }

  async function write(of: string, counts: Counts): Promise<void> {
    const expiresAt = epochSeconds(clock) + RETENTION_DAYS * 86_400
    try {
      await items.change(
        figuresKey(of),
        expr`ADD ${attr('created')} ${counts.created}, ${attr('opened')} ${counts.opened},
          ${attr('expired')} ${counts.expired}, ${attr('refused')} ${counts.refused}
          SET ${attr('expiresAt')} = ${expiresAt}`,
      )
    } catch (error) {
      // Only figures: they are dropped instead of piling up while the store is unavailable.
      log.warn('figures not stored', { error })
    }
  }

  return {
    count(name) {
      const now = hourNumber(clock.now())
      if (now !== hour) {
        // What was counted belongs to the hour before.
        void flush()
        hour = now
      }
      counted[name]++
      isDirty = true
      schedule()
    },

    async list(hours) {
      await flush()
      const last = hourNumber(clock.now())
      const from = hourOf((last - hours + 1) * HOUR_MS)
      const { items: stored } = await items.query({
        key: expr`${attr('PK')} = ${'SEALED#FIGURES' as const} AND ${attr('SK')} >= ${from}`,
      })
      const byHour = new Map(stored.map((item) => [item.SK, item]))
      return Array.from({ length: hours }, (_, index) => {
        const at = (last - hours + 1 + index) * HOUR_MS
        const { created = 0, opened = 0, expired = 0, refused = 0 } = byHour.get(hourOf(at)) ?? {}
        return { from: at, created, opened, expired, refused }
      })
    },

    flush,
  }
}

function noCounts(): Counts {
  return Object.fromEntries(figureNames.map((name) => [name, 0])) as Counts
}

function hourNumber(ms: number): number {
  return Math.floor(ms / HOUR_MS)
}

function hourOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 13)
}
