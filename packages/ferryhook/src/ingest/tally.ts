/**
 * Counts what leaves no event, so that its owner sees it. In memory, and put into the store every few
 * seconds: whoever sends too much must not make us write too much.
 */
import type { Clock } from '@strongroom/kit/clock'
import { newId } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import { HOUR_MS, nothing, type Tallies } from '../db/tallies.ts'
import type { Source } from '../items/source.ts'
import type { Tally as TallyItem, TallyCount } from '../items/tally.ts'

type HourTally = Omit<TallyItem, 'PK' | 'SK' | 'expiresAt'>

export interface TallyDeps {
  tallies: Pick<Tallies, 'put'>
  clock: Clock
  log: Log
  /** Runs something later; a timer unless told. */
  later?: ((run: () => void) => void) | undefined
}

const FLUSH_MS = 5_000

export function createTally({ tallies, clock, log, later = afterAWhile }: TallyDeps) {
  const hours = new Map<string, HourTally>()
  const changed = new Set<HourTally>()
  let isPlanned = false

  function current({ sourceId, userId }: Pick<Source, 'sourceId' | 'userId'>): HourTally {
    const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    const known = hours.get(sourceId)
    if (known?.hour === hour) return known
    // One of its own each time: a clock that was set back comes to an hour again, and adds to it.
    const fresh = { sourceId, userId, hour, writerId: newId('wrt'), ...nothing }
    hours.set(sourceId, fresh)
    return fresh
  }

  async function flush(): Promise<void> {
    const waiting = Array.from(changed)
    for (const tally of waiting) {
      changed.delete(tally)
      try {
        await tallies.put({ ...tally })
      } catch (error) {
        changed.add(tally)
        log.warn('Cannot store what was refused: it is tried again', { error })
        return
      }
    }
    forgetEarlierHours()
  }

  function forgetEarlierHours(): void {
    const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    for (const [sourceId, tally] of hours) {
      if (tally.hour < hour && !changed.has(tally)) hours.delete(sourceId)
    }
  }

  function plan(): void {
    if (isPlanned) return
    isPlanned = true
    later(() => {
      isPlanned = false
      void flush().then(() => void (changed.size > 0 && plan()))
    })
  }

  return {
    /** True for the first of its kind in the hour. */
    add(source: Pick<Source, 'sourceId' | 'userId'>, count: TallyCount): boolean {
      const tally = current(source)
      tally[count] += 1
      changed.add(tally)
      plan()
      return tally[count] === 1
    },

    /** Puts what was counted into the store. */
    flush,
  }
}

export type Tally = ReturnType<typeof createTally>

function afterAWhile(run: () => void): void {
  setTimeout(run, FLUSH_MS).unref()
}
