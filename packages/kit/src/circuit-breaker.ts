/**
 * Stops calls to something that keeps failing. After some failures in a row the breaker opens: for a
 * while no call may begin. Then one call is let through as a probe, and its result decides.
 */
import { type Clock, isRecent } from '@strongroom/platform/clock'

/** How soon to ask again while a probe without a timeout is running. */
const PROBE_RECHECK_MS = 5_000

export interface CircuitBreakerOptions {
  clock: Clock
  /** Failures in a row that open it. */
  failures: number
  openMs: number
  /** The open time doubles with each failed probe, up to this; it stays `openMs` unless given. */
  maxOpenMs?: number
  /** After this another probe may begin although the last has not ended; never unless given. */
  probeTimeoutMs?: number
}

export interface CircuitBreaker {
  /** When to ask again; undefined if a call may begin now. */
  openUntil(): number | undefined
  /** Begins a call. Call the returned function once, with its result; `unknown` changes nothing. */
  begin(): (end: 'ok' | 'failed' | 'unknown') => void
  /** Whether it is open, also while a probe is running or due. */
  readonly isOpen: boolean
  /** Whether no failure is recorded, so that the breaker may be forgotten. */
  readonly isIdle: boolean
}

export function createCircuitBreaker(options: CircuitBreakerOptions): CircuitBreaker {
  const { clock, openMs, maxOpenMs = openMs, probeTimeoutMs } = options
  let failures = 0
  let opened: { at: number; forMs: number } | undefined
  let nextOpenMs = openMs
  let probe: { since: number } | undefined

  function open(): void {
    opened = { at: clock.now(), forMs: nextOpenMs }
    nextOpenMs = Math.min(nextOpenMs * 2, maxOpenMs)
  }

  function close(): void {
    failures = 0
    opened = undefined
    nextOpenMs = openMs
  }

  return {
    openUntil() {
      if (!opened) return undefined
      // `isRecent` is false after the clock was set back, so that the breaker never stays open for long.
      if (isRecent(clock, opened.at, opened.forMs)) return opened.at + opened.forMs
      if (!probe) return undefined
      if (probeTimeoutMs === undefined) return clock.now() + PROBE_RECHECK_MS
      return isRecent(clock, probe.since, probeTimeoutMs) ? probe.since + probeTimeoutMs : undefined
    },

    begin() {
      const own = opened && { since: clock.now() }
      if (own) probe = own
      return (end) => {
        if (probe === own) probe = undefined
        if (end === 'unknown') return
        if (end === 'ok') return close()
        failures += 1
        // Calls that began before it opened tell nothing about now.
        if (own || (!opened && failures >= options.failures)) open()
      }
    },

    get isOpen() {
      return opened !== undefined
    },

    get isIdle() {
      return failures === 0 && !opened
    },
  }
}
