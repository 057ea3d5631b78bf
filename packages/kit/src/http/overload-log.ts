/** One line when a service begins to refuse requests, and one when it has stopped: an overload refuses thousands. */
import type { StartTimer } from '@strongroom/platform/timers'
import type { Log } from '../log.ts'

/** Called for every refused request of a service. */
export type OverloadLog = (service: string) => void

/** An overload has ended when nothing was refused for at least this long. */
const QUIET_MS = 10_000

interface Overload {
  startedAt: number
  refused: number
  /** `refused` when the quiet time began. */
  refusedBefore: number
}

export function createOverloadLog(options: {
  log: Log
  /** Monotonic, in milliseconds. */
  now: () => number
  startTimer: StartTimer
}): OverloadLog {
  const { log, now, startTimer } = options
  const overloads = new Map<string, Overload>()

  function check(service: string, overload: Overload): void {
    const { refused, startedAt } = overload
    if (refused === overload.refusedBefore) {
      overloads.delete(service)
      const seconds = Math.round((now() - startedAt) / 1000)
      log.info('overload ended', { service, refused, seconds })
      return
    }
    overload.refusedBefore = refused
    startTimer(QUIET_MS, () => check(service, overload))
  }

  return (service) => {
    const overload = overloads.get(service)
    if (overload) {
      overload.refused += 1
      return
    }
    const begun = { startedAt: now(), refused: 1, refusedBefore: 1 }
    overloads.set(service, begun)
    log.warn('too many requests are running, refusing more', { service })
    startTimer(QUIET_MS, () => check(service, begun))
  }
}
