// Counts the items of a table or index. LMDB can only count by walking the keys, which blocks the event
// loop, so a count is cached for a hundred times as long as it took. DynamoDB updates this figure about
// every six hours.

import { performance } from 'node:perf_hooks'
import { boundsOfId } from './bounds.ts'
import type { Environment } from './lmdb/lmdb.ts'
import { lmdbRange } from './reads.ts'
import type { IndexRecord, TableRecord } from './storage.ts'

const SMALL = 20_000

export class Counts {
  readonly #env: Environment
  readonly #remembered = new Map<number, { count: number; until: number }>()

  constructor(env: Environment) {
    this.#env = env
  }

  of(table: TableRecord, index: IndexRecord | undefined): number {
    const id = index?.id ?? table.id
    const started = performance.now()
    const known = this.#remembered.get(id)
    if (known !== undefined && started < known.until) return known.count
    const space = index === undefined ? this.#env.items : this.#env.entries
    const count = space.getKeysCount(lmdbRange(boundsOfId(id), false))
    const ended = performance.now()
    if (count < SMALL) this.#remembered.delete(id)
    else this.#remembered.set(id, { count, until: ended + 100 * (ended - started) })
    return count
  }
}
