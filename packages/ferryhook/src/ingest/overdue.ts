/**
 * Ends the wait for a store that says nothing: the sender is told to come again. One timer for all
 * that wait, because every event passes through here.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import { StoreBusy } from '@strongroom/kit/db-errors'
import type { Timers } from '../delivery/timers.ts'

const LOOK_MS = 1_000

interface Waiting {
  since: number
  giveUp(reason: Error): void
}

export function createOverdue({
  clock,
  timers,
  longestMs,
}: {
  clock: Clock
  timers: Timers
  longestMs: number
}) {
  // In the order in which they began.
  const waiting = new Set<Waiting>()
  let isLooking = false

  function look(): void {
    isLooking = false
    for (const each of waiting) {
      if (isRecent(clock, each.since, longestMs)) break
      waiting.delete(each)
      each.giveUp(new StoreBusy('Cannot store an event: the store does not answer'))
    }
    plan()
  }

  function plan(): void {
    if (isLooking || waiting.size === 0) return
    isLooking = true
    timers.after(LOOK_MS, look)
  }

  /** The work, or `StoreBusy` if it takes too long. */
  return <T>(work: Promise<T>): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const entry = { since: clock.now(), giveUp: reject }
      waiting.add(entry)
      plan()
      work.then(resolve, reject).finally(() => waiting.delete(entry))
    })
}
