// The number of items of each table and index, and their size as DynamoDB counts it. Both are in `meta`
// under the id of the table or index, written by the commit that changes them. The stored figures are
// read inside the write transaction, because other processes change them, too.

import type { Environment, Snapshot } from './lmdb/lmdb.ts'

export interface Count {
  items: number
  bytes: number
}

const NONE: Count = { items: 0, bytes: 0 }

export const ALL_COUNTS = { start: ['count'], end: ['count!'] }

export function countKey(id: number): (string | number)[] {
  return ['count', id]
}

/** Reads in the current snapshot, or in the write transaction if one is running. */
export function readCount(
  env: Environment,
  id: number,
  snapshot?: { transaction: Snapshot },
): Count {
  return (env.meta.get(countKey(id), snapshot) as Count | undefined) ?? NONE
}

interface Change extends Count {
  id: number
  /** The table or index was dropped. */
  isRemoved: boolean
}

/** The changes of one commit, which are written once at its end. */
export class CountChanges {
  readonly #env: Environment
  /** Of the current `run`, which may still fail. */
  #run: Change[] = []
  readonly #commit = new Map<number, Change>()

  constructor(env: Environment) {
    this.#env = env
  }

  beginCommit(): void {
    this.#commit.clear()
  }

  begin(): void {
    if (this.#run.length > 0) this.#run = []
  }

  add(id: number, items: number, bytes: number): void {
    this.#run.push({ id, items, bytes, isRemoved: false })
  }

  remove(id: number): void {
    this.#run.push({ id, items: 0, bytes: 0, isRemoved: true })
  }

  /** The count including what this `run` has changed. */
  of(id: number): Count {
    const sum = { ...readCount(this.#env, id) }
    const changes = this.#run.filter((change) => change.id === id)
    for (const { items, bytes } of [this.#commit.get(id) ?? NONE, ...changes]) {
      sum.items += items
      sum.bytes += bytes
    }
    return sum
  }

  apply(): void {
    for (const change of this.#run) {
      const sum = this.#commit.get(change.id)
      if (sum === undefined || change.isRemoved) this.#commit.set(change.id, change)
      else {
        sum.items += change.items
        sum.bytes += change.bytes
      }
    }
  }

  endCommit(): void {
    const { meta } = this.#env
    for (const { id, items, bytes, isRemoved } of this.#commit.values()) {
      if (isRemoved) void meta.remove(countKey(id))
      else if (items !== 0 || bytes !== 0) {
        const stored = readCount(this.#env, id)
        void meta.put(countKey(id), { items: stored.items + items, bytes: stored.bytes + bytes })
      }
    }
  }
}
