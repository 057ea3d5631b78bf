// Ids of tables, indexes, TTL lists, logs, backups and jobs come from one counter and are never used
// again.

import { NEXT_ID_KEY } from './catalog.ts'
import type { Transaction } from './transaction.ts'

/** One for each `run`: what it took is written by `save`, which also raises the catalog's version. */
export class Ids {
  readonly #tx: Transaction
  #next: number

  constructor(tx: Transaction) {
    this.#tx = tx
    this.#next = (tx.env.meta.get(NEXT_ID_KEY) as number | undefined) ?? 1
  }

  take(): number {
    return this.#next++
  }

  save(): void {
    this.#tx.putMeta(NEXT_ID_KEY, this.#next)
    this.#tx.raiseVersion()
  }
}
