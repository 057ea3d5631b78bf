/** Tuning of a worker. The documentation states the defaults. */
import { HOUR_MS } from '../storage/time.ts'

export interface WorkerConfig {
  /** How often all shards are polled; `wake` polls immediately. */
  pollMs: number
  /** Due tasks that are read from a shard in one query. */
  pageSize: number
  /** For the whole of one attempt: DNS, connection, TLS, request and response. */
  attemptTimeoutMs: number
  /** How much longer than an attempt a task is leased. Leases are not renewed. */
  leaseGraceMs: number
  /** Parallel attempts to one connection; a connection can override it. */
  concurrency: number
  /** Tasks in memory, over all connections. */
  maxInFlight: number
  /** How long a connection is cached. */
  cacheMs: number
  destinationBreaker: BreakerConfig
  /** The same for secrets that cannot be decrypted. */
  keyBreaker: BreakerConfig
  health: HealthConfig
}

export interface BreakerConfig {
  /** Attempts in a row without a response, or with 429 or 5xx, that open it. */
  failures: number
  /** How long it stays open before a probe; doubled by each failed probe. */
  openMs: number
  maxOpenMs: number
}

export interface HealthConfig {
  /** How often results are written to the connection. */
  flushMs: number
  /** The owner is warned after failing for this long and this often without a success. */
  warnAfterMs: number
  warnAttempts: number
  /** The connection is paused after this, and not before `warnedForMs` after the warning. */
  pauseAfterMs: number
  pauseAttempts: number
  warnedForMs: number
}

export const defaultConfig: WorkerConfig = {
  pollMs: 1_000,
  pageSize: 100,
  attemptTimeoutMs: 10_000,
  leaseGraceMs: 15_000,
  concurrency: 20,
  maxInFlight: 5_000,
  cacheMs: 1_000,
  destinationBreaker: { failures: 10, openMs: 30_000, maxOpenMs: 300_000 },
  keyBreaker: { failures: 1, openMs: 5_000, maxOpenMs: 60_000 },
  health: {
    flushMs: 5_000,
    warnAfterMs: 24 * HOUR_MS,
    warnAttempts: 10,
    pauseAfterMs: 72 * HOUR_MS,
    pauseAttempts: 20,
    warnedForMs: 24 * HOUR_MS,
  },
}
