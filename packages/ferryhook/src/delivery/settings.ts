/** How a worker works. The defaults are what the documentation promises. */
export interface WorkerSettings {
  /** How often the shards are asked for what is due; a hint asks at once. */
  pollMs: number
  /** How many due tasks of a shard are read at once. */
  page: number
  /** For the whole of one attempt: DNS, connection, TLS, request and response. */
  exchangeMs: number
  /** How much longer than an exchange a task is leased; it is not renewed. */
  leaseGraceMs: number
  /** Attempts at once to one connection that does not say otherwise. */
  concurrency: number
  /** Tasks in memory at once, over all connections. */
  mostInHand: number
  /** For how long a connection is remembered as it was read. */
  rememberMs: number
  circuit: CircuitSettings
  /** The same while the secrets of a connection cannot be opened. */
  keys: CircuitSettings
  health: HealthSettings
}

export interface CircuitSettings {
  /** So many attempts in a row without an answer, or with 429 or 5xx, open it. */
  failures: number
  /** For how long it stays open before one attempt is let through; doubled each time that fails. */
  openMs: number
  longestOpenMs: number
}

export interface HealthSettings {
  /** How often outcomes are added to the stored connection. */
  flushMs: number
  /** Failing for so long, and so many attempts, without one success: its owner is warned. */
  warnAfterMs: number
  warnAttempts: number
  /** The same until it is paused, and how long after the warning at the earliest. */
  pauseAfterMs: number
  pauseAttempts: number
  warnedForMs: number
}

const HOUR_MS = 3_600_000

export const defaultSettings: WorkerSettings = {
  pollMs: 1_000,
  page: 100,
  exchangeMs: 10_000,
  leaseGraceMs: 15_000,
  concurrency: 20,
  mostInHand: 5_000,
  rememberMs: 1_000,
  circuit: { failures: 10, openMs: 30_000, longestOpenMs: 300_000 },
  keys: { failures: 1, openMs: 5_000, longestOpenMs: 60_000 },
  health: {
    flushMs: 5_000,
    warnAfterMs: 24 * HOUR_MS,
    warnAttempts: 10,
    pauseAfterMs: 72 * HOUR_MS,
    pauseAttempts: 20,
    warnedForMs: 24 * HOUR_MS,
  },
}
