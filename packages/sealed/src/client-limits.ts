/**
 * How often one client may ask, counted in memory: where addresses are never stored, counters by
 * address are not either. A client is known by a keyed hash of its network under a key that this
 * process made for itself, and forgotten within two minutes of its last request.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { type Clock, isRecent } from '@strongroom/kit/clock'
import type { RateLimitState } from '@strongroom/kit/http/rate-limit-headers'
import {
  allowance,
  type Cells,
  emptyCells,
  rolled,
  secondsUntilAdmitted,
} from '@strongroom/kit/sliding-window'

const WINDOW_SECONDS = 60
/** From the start of its window on a count matters until the window after it is over. */
const REMEMBERED_MS = 2 * WINDOW_SECONDS * 1000

/**
 * Clients remembered for each limit. Beyond that the one that has been away longest is forgotten:
 * whoever has more networks than this to ask from is not held up by a limit for each anyway.
 */
export const MOST_CLIENTS = 20_000

export interface ClientLimit {
  /** Counts one request of a client; what it is refused with, or undefined if it is admitted. */
  take(network: string): RateLimitState | undefined
  /** How many clients are remembered. */
  readonly clients: number
}

/** A limit for each minute; 0 is none. */
export function createClientLimit({ clock, limit }: { clock: Clock; limit: number }): ClientLimit {
  const rate = { name: 'minute', limit, windowSeconds: WINDOW_SECONDS }
  const key = randomBytes(32)
  // In the order of the last request of each.
  const seen = new Map<string, Cells>()

  function forget() {
    for (const [client, { window }] of seen) {
      if (isRecent(clock, window * 1000, REMEMBERED_MS) && seen.size < MOST_CLIENTS) return
      seen.delete(client)
    }
  }

  return {
    take(network) {
      if (limit === 0) return undefined
      const nowMs = clock.now()
      const client = createHmac('sha256', key).update(network).digest('base64url')
      const cells = rolled(seen.get(client) ?? emptyCells, rate, nowMs)
      const isAdmitted = cells.current < allowance(cells, rate, nowMs)
      seen.delete(client)
      forget()
      // Refused requests are not counted, or whoever keeps trying would stay locked out.
      seen.set(client, isAdmitted ? { ...cells, current: cells.current + 1 } : cells)
      if (isAdmitted) return undefined
      return {
        limit: rate,
        remaining: 0,
        resetSeconds: cells.window + WINDOW_SECONDS - nowMs / 1000,
        retryAfterSeconds: secondsUntilAdmitted(cells, rate, nowMs),
      }
    },
    get clients() {
      return seen.size
    },
  }
}
