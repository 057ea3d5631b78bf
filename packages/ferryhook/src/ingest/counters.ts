/**
 * Counts requests that leave no event, so that the owner of a source sees them. Counts are held in
 * memory and written every few seconds, because a flood of requests must not become a flood of
 * writes.
 */
import type { Clock } from '@strongroom/platform/clock'
import { newId } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import type { Source } from '../sources/item.ts'
import { HOUR_MS } from '../storage/time.ts'
import {
  type IngestCounter,
  type IngestCounterStore,
  type IngestCountName,
  zeroCounts,
} from './counter-store.ts'

type HourCounter = Omit<IngestCounter, 'PK' | 'SK' | 'expiresAt'>

export interface IngestCountersDeps {
  store: Pick<IngestCounterStore, 'put'>
  clock: Clock
  log: Log
  startTimer?: StartTimer | undefined
}

const FLUSH_INTERVAL_MS = 5_000

export function createIngestCounters({
  store,
  clock,
  log,
  startTimer = startBackgroundTimer,
}: IngestCountersDeps) {
  const hours = new Map<string, HourCounter>()
  const changed = new Set<HourCounter>()
  let isScheduled = false

  function current({ sourceId, userId }: Pick<Source, 'sourceId' | 'userId'>): HourCounter {
    const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    const existing = hours.get(sourceId)
    if (existing?.hour === hour) return existing
    // A new writer id each time: if the clock is set back, the hour gets another item, not less.
    const counter = { sourceId, userId, hour, writerId: newId('wrt'), ...zeroCounts }
    hours.set(sourceId, counter)
    return counter
  }

  async function flush(): Promise<void> {
    for (const counter of Array.from(changed)) {
      changed.delete(counter)
      try {
        await store.put({ ...counter })
      } catch (error) {
        changed.add(counter)
        log.warn('storing ingest counters failed, retrying', { error })
        return
      }
    }
    removeEarlierHours()
  }

  function removeEarlierHours(): void {
    const hour = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    for (const [sourceId, counter] of hours) {
      if (counter.hour < hour && !changed.has(counter)) hours.delete(sourceId)
    }
  }

  function schedule(): void {
    if (isScheduled) return
    isScheduled = true
    startTimer(FLUSH_INTERVAL_MS, () => {
      isScheduled = false
      void flush().then(() => void (changed.size > 0 && schedule()))
    })
  }

  return {
    /** Returns true for the first of its kind in the hour. */
    add(source: Pick<Source, 'sourceId' | 'userId'>, name: IngestCountName): boolean {
      const counter = current(source)
      counter[name] += 1
      changed.add(counter)
      schedule()
      return counter[name] === 1
    },

    /** Writes all counts that changed since the last flush. */
    flush,
  }
}

export type IngestCounters = ReturnType<typeof createIngestCounters>
