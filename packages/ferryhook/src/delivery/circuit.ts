/**
 * Keeps a worker from trying what is known not to answer. After some failures in a row it opens: for a
 * while nothing is attempted. Then one attempt is let through, and decides.
 */
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { CircuitSettings } from './settings.ts'

/** While a probe is under way the others ask again soon. */
const PROBE_MS = 5_000

export interface Circuit {
  /** Undefined if an attempt may begin now; otherwise when to ask again. */
  blockedUntil(): number | undefined
  /** An attempt begins; whoever calls ends it by one call of what is returned. */
  begin(): (end: 'answered' | 'failed' | 'unknown') => void
  /** Whether it is open, or waits for the attempt that decides. */
  readonly isOpen: boolean
  /** Whether it has nothing to remember. */
  readonly isQuiet: boolean
}

export function createCircuit(clock: Clock, settings: CircuitSettings): Circuit {
  let failures = 0
  let opened: { at: number; forMs: number } | undefined
  let period = settings.openMs
  let isProbing = false

  function open(): void {
    opened = { at: clock.now(), forMs: period }
    period = Math.min(period * 2, settings.longestOpenMs)
  }

  function close(): void {
    failures = 0
    opened = undefined
    period = settings.openMs
  }

  return {
    blockedUntil() {
      if (!opened) return undefined
      if (isRecent(clock, opened.at, opened.forMs)) return opened.at + opened.forMs
      return isProbing ? clock.now() + PROBE_MS : undefined
    },

    begin() {
      const isProbe = opened !== undefined
      if (isProbe) isProbing = true
      return (end) => {
        if (isProbe) isProbing = false
        if (end === 'unknown') return
        if (end === 'answered') return close()
        failures += 1
        // Those that began before it opened say nothing new.
        if (isProbe || (!opened && failures >= settings.failures)) open()
      }
    },

    get isOpen() {
      return opened !== undefined
    },

    get isQuiet() {
      return failures === 0 && !opened
    },
  }
}
