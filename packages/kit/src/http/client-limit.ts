/**
 * Rate limits per client, counted in memory because addresses are never stored. A client is a keyed
 * hash of its network, with a key that exists only in this process, and is removed within two minutes
 * of its last request.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { CountedNetwork, CountedNetworks } from './client-address.ts'
import type { RateLimitState } from './rate-limit-headers.ts'
import {
  allowance,
  type Cells,
  emptyCells,
  rollCells,
  secondsUntilAdmitted,
} from '../sliding-window.ts'
import { type Clock, isRecent } from '@strongroom/platform/clock'

const WINDOW_SECONDS = 60
/** A count matters until the end of the window after its own. */
const RETENTION_MS = 2 * WINDOW_SECONDS * 1000

/**
 * Clients per limit; beyond that the least recent one is evicted. An attacker with more networks than
 * this is not stopped by a limit per network anyway.
 */
export const MAX_CLIENTS = 20_000

export interface ClientLimit {
  /** Counts one request. Undefined if it is admitted, otherwise the state to refuse it with. */
  take(networks: CountedNetworks): RateLimitState | undefined
  /** The same without counting it, for limits of failures, which are counted afterwards. */
  check(networks: CountedNetworks): RateLimitState | undefined
  readonly clientCount: number
}

/** A limit per minute; 0 is no limit. */
export function createClientLimit({ clock, limit }: { clock: Clock; limit: number }): ClientLimit {
  const perMinute = { name: 'minute', limit, windowSeconds: WINDOW_SECONDS }
  const key = randomBytes(32)
  // In the order of their last requests.
  const clients = new Map<string, Cells>()

  function evict() {
    for (const [client, { window }] of clients) {
      if (isRecent(clock, window * 1000, RETENTION_MS) && clients.size < MAX_CLIENTS) return
      clients.delete(client)
    }
  }

  function takeFrom(
    { network, factor }: CountedNetwork,
    count: number,
  ): RateLimitState | undefined {
    const rate = { ...perMinute, limit: factor * limit }
    const nowMs = clock.now()
    const client = createHmac('sha256', key).update(network).digest('base64url')
    const cells = rollCells(clients.get(client) ?? emptyCells, rate, nowMs)
    const isAdmitted = cells.current < allowance(cells, rate, nowMs)
    clients.delete(client)
    evict()
    // Refused requests are not counted, or a client that keeps retrying would never be admitted again.
    clients.set(client, isAdmitted ? { ...cells, current: cells.current + count } : cells)
    if (isAdmitted) return undefined
    return {
      limit: rate,
      remaining: 0,
      resetSeconds: cells.window + WINDOW_SECONDS - nowMs / 1000,
      retryAfterSeconds: secondsUntilAdmitted(cells, rate, nowMs),
    }
  }

  function takeFromAll(networks: CountedNetworks, count: number): RateLimitState | undefined {
    if (limit === 0) return undefined
    for (const network of networks) {
      const refused = takeFrom(network, count)
      if (refused) return refused
    }
    return undefined
  }

  return {
    take: (networks) => takeFromAll(networks, 1),
    check: (networks) => takeFromAll(networks, 0),
    get clientCount() {
      return clients.size
    },
  }
}
