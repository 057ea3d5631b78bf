// A cache of the tables of a data directory. Every change raises a stored version counter, which each
// process reads once per snapshot or transaction to see whether its copy is stale. Committed state and
// the state inside a write transaction have separate caches, because a commit can still fail.

import type { Environment } from './lmdb/lmdb.ts'
import type { BackupRecord } from './backups/backup-records.ts'
import type { IndexRecord, TableRecord, TtlRecord } from './storage.ts'
import type { Transaction } from './transaction.ts'

export const VERSION_KEY = 'version'
const NEXT_ID_KEY = 'next-id'

export function tableKey(name: string): string[] {
  return ['table', name]
}

export const ALL_TABLES = { start: ['table'], end: ['table!'] }
const ALL_BACKUPS = { start: ['backup'], end: ['backup!'] }

/** An index, or the time-ordered list of a time to live: both have entries of their own. */
export type EntryOwner = IndexRecord | TtlRecord

export class Catalog {
  readonly #env: Environment
  #version = -1
  #byName = new Map<string, TableRecord>()
  #byId = new Map<number, TableRecord>()

  constructor(env: Environment) {
    this.#env = env
  }

  /** Reads in the current snapshot, or in the write transaction if one is running. */
  refresh(): void {
    const version = this.storedVersion()
    if (version === this.#version) return
    const byName = new Map<string, TableRecord>()
    const byId = new Map<number, TableRecord>()
    for (const { value } of this.#env.meta.getRange(ALL_TABLES)) {
      const record = deepFreeze(value as TableRecord)
      byName.set(record.name, record)
      byId.set(record.id, record)
    }
    // The items of a backup are stored under an id like those of a table. Only unfinished backups are
    // listed: a finished one, such as that of a dropped table, must never be written to.
    for (const { value } of this.#env.meta.getRange(ALL_BACKUPS)) {
      const { space, status } = deepFreeze(value as BackupRecord)
      if (status === 'CREATING') byId.set(space.id, space)
    }
    this.#byName = byName
    this.#byId = byId
    this.#version = version
  }

  storedVersion(): number {
    return (this.#env.meta.get(VERSION_KEY) as number | undefined) ?? 0
  }

  invalidate(): void {
    this.#version = -1
  }

  byName(name: string): TableRecord | undefined {
    return this.#byName.get(name)
  }

  byId(id: number): TableRecord | undefined {
    return this.#byId.get(id)
  }

  all(): TableRecord[] {
    return [...this.#byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }
}

export function owners(table: TableRecord): EntryOwner[] {
  return table.ttl === undefined ? table.indexes : [...table.indexes, table.ttl]
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFreeze(part)
  }
  return value
}

/**
 * Allocates ids of tables, indexes, TTL lists, logs, backups and jobs from one counter. Ids are never
 * reused. Create one per transaction; `save` stores the counter and raises the catalog's version.
 */
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
