/**
 * Ends the wait for a store that does not answer, so that the sender is asked to retry. All requests
 * share one timer, because every event passes through here.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'
import { StoreBusy } from '@strongroom/kit/db-errors'
import type { StartTimer } from '@strongroom/platform/timers'

const CHECK_INTERVAL_MS = 1_000

interface Pending {
  startedAt: number
  reject(reason: Error): void
}

export function createDeadline({
  clock,
  startTimer,
  maxMs,
}: {
  clock: Clock
  startTimer: StartTimer
  maxMs: number
}) {
  /** Oldest first. */
  const pending = new Set<Pending>()
  let isScheduled = false

  function check(): void {
    isScheduled = false
    for (const entry of pending) {
      if (isRecent(clock, entry.startedAt, maxMs)) break
      pending.delete(entry)
      entry.reject(new StoreBusy('Cannot store an event: the store does not respond'))
    }
    schedule()
  }

  function schedule(): void {
    if (isScheduled || pending.size === 0) return
    isScheduled = true
    startTimer(CHECK_INTERVAL_MS, check)
  }

  /** Settles like `work`, or rejects with `StoreBusy` if it takes longer than `maxMs`. */
  return <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const entry = { startedAt: clock.now(), reject }
      pending.add(entry)
      schedule()
      work.then(resolve, reject).finally(() => pending.delete(entry))
    })
}
