// Deletes expired data in bounded batches: items with a time to live, old changes, closed streams,
// backups and idempotency tokens. It checks with a read first, so an idle directory is never written to.

import { epochSeconds, type Clock } from '@strongroom/platform/clock'
import type { Environment } from './lmdb/lmdb.ts'
import type { WriteQueue } from './write-queue.ts'
import type { TableRecord } from './storage.ts'
import { isPastRetention, retainedRecords, removePastRetention } from './retention.ts'
import { forgetTokens, hasExpiredTokens } from './tokens.ts'
import { deleteExpired, hasExpired } from './ttl.ts'

export class Sweeper {
  readonly #env: Environment
  readonly #queue: WriteQueue
  readonly #clock: Clock
  readonly #tables: () => TableRecord[]
  #running: Promise<number> | undefined
  #stopped = false

  constructor(env: Environment, queue: WriteQueue, clock: Clock, tables: () => TableRecord[]) {
    this.#env = env
    this.#queue = queue
    this.#clock = clock
    this.#tables = tables
  }

  /** Resolves to the number of deleted items. */
  sweep(): Promise<number> {
    this.#running ??= this.#sweep().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Resolves when a running sweep has ended, at its next batch. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#running?.catch(() => 0)
  }

  async #sweep(): Promise<number> {
    // The reader slots of killed processes would keep old pages from being reused.
    this.#env.root.readerCheck()
    const now = epochSeconds(this.#clock)
    let total = 0
    for (const table of this.#tables()) {
      if (this.#stopped) break
      if (table.ttl === undefined || !hasExpired(this.#env, table.ttl, now)) continue
      for (let more = true; more;) {
        const batch = await this.#queue.push((tx) => deleteExpired(tx, table, now))
        total += batch.deleted
        more = batch.more && !this.#stopped
      }
    }
    const nowMs = this.#clock.now()
    for (const due of retainedRecords(this.#env, this.#tables(), nowMs)) {
      for (let more = isPastRetention(this.#env, due, nowMs); more && !this.#stopped;) {
        more = await this.#queue.push((tx) => removePastRetention(tx, due, nowMs))
      }
    }
    for (let more = hasExpiredTokens(this.#env, nowMs); more;) {
      const left = await this.#queue.push((tx) => forgetTokens(tx, nowMs))
      more = left && !this.#stopped
    }
    return total
  }
}
