/** For log lines and records of something that may happen thousands of times in a row. */
import { LRUCache } from 'lru-cache'
import { type Clock, isRecent } from '@strongroom/platform/clock'

const QUIET_MS = 600_000
const MAX_KEYS = 10_000

export interface LogThrottleOptions {
  clock: Clock
  /** After a line, those of the same key are suppressed for this long; 10 minutes unless given. */
  quietMs?: number
  /** The keys that were used least recently are forgotten. */
  maxKeys?: number
}

/**
 * Calls `write` with the number of lines that were suppressed since the last one, and returns its
 * result; undefined if this one is suppressed. If `write` throws or its promise rejects, the
 * failure passes through and what it would have written counts as suppressed.
 */
export type LogThrottle = <Result extends void | Promise<void>>(
  key: string,
  write: (suppressed: number) => Result,
) => Result | undefined

export function createLogThrottle(options: LogThrottleOptions): LogThrottle {
  const { clock, quietMs = QUIET_MS, maxKeys = MAX_KEYS } = options
  const recent = new LRUCache<string, { at: number; suppressed: number }>({ max: maxKeys })

  return (key, write) => {
    const before = recent.get(key)
    if (before && isRecent(clock, before.at, quietMs)) {
      before.suppressed += 1
      return undefined
    }
    const suppressed = before?.suppressed ?? 0
    const latest = { at: clock.now(), suppressed: 0 }
    recent.set(key, latest)
    const restore = (error: unknown): never => {
      latest.suppressed += suppressed + 1
      throw error
    }
    try {
      const result = write(suppressed)
      return (result instanceof Promise ? result.catch(restore) : result) as typeof result
    } catch (error) {
      return restore(error)
    }
  }
}
