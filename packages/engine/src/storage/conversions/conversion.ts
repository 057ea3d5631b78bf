// A conversion rewrites a data directory from one format to the next. It runs before anything else uses
// the directory, in batches of one transaction each. What it returns is stored in the same transaction,
// so after a crash the next start continues with the batch that was not committed.

import type { Environment } from '../lmdb/lmdb.ts'

export interface Conversion {
  /** The format that it converts to, from the one before. */
  readonly to: number
  /** What it does, for people who wait for it: "counts the items of tables". */
  readonly summary: string
  /** How much the data may grow, as a share of its size; this much disk space must be free. */
  readonly growth: number
  /** About how many entries it reads, for the progress. */
  total?(env: Environment): number
  /**
   * Converts at most `MAX_BATCH` entries and returns where to continue, or undefined if nothing is left.
   * Values of an older format are read from `env.stored` by a decoder that the conversion brings along:
   * `env.items` decodes the newest one only. `env.meta` has the catalog.
   */
  step(env: Environment, position: Position | undefined): Position | undefined
}

/** Where a conversion continues, as JSON. Keys are bytes, so store them as base64. */
export interface Position {
  /** Entries read so far. */
  done: number
  [name: string]: unknown
}

/** Keeps transactions small, so that memory is bounded and pages of earlier batches are reused. */
export const MAX_BATCH = 1000
