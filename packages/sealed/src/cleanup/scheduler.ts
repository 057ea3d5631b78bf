/**
 * Ends secrets on time: after every request that names one, and at the deadline of the claim that
 * last read it. The sweep ends those that were missed because the process stopped.
 */
import type { Log } from '@strongroom/kit/log'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { StartTimer } from '@strongroom/platform/timers'
import { GRACE_SECONDS } from '../limits.ts'
import type { SecretStore } from '../secrets/store.ts'

/** A batch costs the store little more than one secret, but a whole backlog would overload it. */
const MAX_CONCURRENT = 100

export interface CleanupScheduler {
  /** Ends the secret at this second if it has ended by then; a second in the past means now. */
  schedule(id: string, second: number): void
  /** Forgets a secret that has ended. */
  cancel(id: string): void
  /** Ends what is due now and waits for it. */
  flush(): Promise<void>
  /** Waits for what is running and drops the rest. */
  close(): Promise<void>
}

export function createCleanupScheduler(options: {
  store: Pick<SecretStore, 'endIfOver'>
  clock: Clock
  startTimer: StartTimer
  log: Log
}): CleanupScheduler {
  const { store, clock, startTimer, log } = options
  const scheduled = new Map<number, Set<string>>()
  let timerSecond = Infinity
  let cancelTimer = () => {}
  let running = Promise.resolve()
  let isClosed = false

  /** Keeps one timer, for the earliest second. */
  function setTimer(second: number) {
    if (isClosed || second >= timerSecond) return
    cancelTimer()
    timerSecond = second
    cancelTimer = startTimer(Math.max(0, second * 1000 - clock.now()), () => {
      timerSecond = Infinity
      running = running.then(endDue)
    })
  }

  async function endDue() {
    const now = epochSeconds(clock)
    const seconds = [...scheduled.keys()].filter((second) => second <= now)
    const ids = seconds.flatMap((second) => [...(scheduled.get(second) ?? [])])
    for (const second of seconds) scheduled.delete(second)
    for (let at = 0; at < ids.length; at += MAX_CONCURRENT) {
      if (isClosed) return
      await Promise.all(ids.slice(at, at + MAX_CONCURRENT).map(endSecret))
    }
    setTimer(Math.min(...scheduled.keys()))
  }

  async function endSecret(id: string) {
    try {
      const nextAt = await store.endIfOver(id)
      // A later time is an expiry, which the sweep and TTL take care of.
      if (nextAt !== undefined && nextAt <= epochSeconds(clock) + GRACE_SECONDS) {
        schedule(id, nextAt)
      }
    } catch (error) {
      log.error('secret not ended, leaving it to the next sweep or TTL', { error })
    }
  }

  function schedule(id: string, second: number) {
    const ids = scheduled.get(second) ?? new Set()
    scheduled.set(second, ids.add(id))
    setTimer(second)
  }

  return {
    schedule,
    cancel(id) {
      for (const [second, ids] of scheduled) {
        if (ids.delete(id) && ids.size === 0) scheduled.delete(second)
      }
    },
    async flush() {
      running = running.then(endDue)
      await running
    },
    async close() {
      isClosed = true
      cancelTimer()
      await running
    },
  }
}
