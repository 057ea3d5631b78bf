// Opens the storage of a data directory: composes the environment, the catalog, the write queue and the
// background jobs into the interface of `storage.ts`.

import { systemClock, type Clock } from '@strongroom/platform/clock'
import { Catalog } from './catalog.ts'
import { Backups } from './backups/backups.ts'
import { type Count, readCount } from './counts.ts'
import { openEnvironment } from './lmdb/environment.ts'
import { storageClosed } from './lmdb/failures.ts'
import { hasUnfinished } from './jobs/copies.ts'
import { JobRunner } from './jobs/job-runner.ts'
import type { Environment } from './lmdb/lmdb.ts'
import { WriteQueue } from './write-queue.ts'
import { readItem, readRange, readStoredRange, readTogether } from './reads.ts'
import type {
  IndexRecord,
  NewTable,
  Storage,
  TableChange,
  TableRecord,
  WriteTx,
} from './storage.ts'
import { Streams } from './changes/streams.ts'
import { Sweeper } from './sweeper.ts'
import { swapTables } from './table-swap.ts'
import { createTable, dropTable, replaceTable } from './tables.ts'
import { Transaction } from './transaction.ts'

export interface StorageOptions {
  directory: string
  clock?: Clock
  /** Interval of the search for expired items; with 0 only calls of `sweep` delete them. */
  sweepIntervalMs?: number
  /** For tests: every new table is encrypted. */
  encrypted?: boolean
}

/** Also gives the backup and the integrity check access to the environment. */
export interface OpenStorage extends Storage {
  readonly environment: Environment
}

/** Several processes may open one directory at the same time. Throws if it cannot be used. */
export function openStorage(options: StorageOptions): OpenStorage {
  const { directory, clock = systemClock, sweepIntervalMs = 1000 } = options
  const defaults: Partial<NewTable> = options.encrypted ? { encrypted: true } : {}
  const env = openEnvironment(directory)
  const committed = new Catalog(env)
  const transaction = new Transaction(env, new Catalog(env), clock)
  const queue = new WriteQueue(env, transaction, directory)
  const jobs = new JobRunner(env, queue, directory)
  const sweeper = new Sweeper(env, queue, clock, () => tables())
  let stale = true
  let closing: Promise<void> | undefined
  let adopting: Promise<void> | undefined
  env.onSnapshot(() => {
    stale = true
  })

  function catalog(): Catalog {
    if (closing !== undefined) throw storageClosed(directory)
    env.ensureSnapshot()
    if (stale) {
      stale = false
      committed.refresh()
    }
    return committed
  }

  function tables(): TableRecord[] {
    return catalog().all()
  }

  function countOf(table: TableRecord, index: IndexRecord | undefined): Count {
    if (closing !== undefined) throw storageClosed(directory)
    return readCount(env, index?.id ?? table.id)
  }

  function refresh(): void {
    if (closing !== undefined) throw storageClosed(directory)
    env.refresh()
    stale = true
  }

  /** `settled` reports failures, and the timer retries them. */
  function startJobs(): void {
    jobs.run().catch(() => undefined)
  }

  async function change<T>(run: (tx: Transaction) => T): Promise<T> {
    const result = await queue.push(run)
    startJobs()
    return result
  }

  /** Overwrites the keys of deleted items that a killed process has left. */
  function adoptSlots(): Promise<void> {
    adopting ??= adoptAll().finally(() => {
      adopting = undefined
    })
    return adopting
  }

  async function adoptAll(): Promise<void> {
    while (env.keys.hasAbandoned()) {
      await queue.push((tx) => tx.adoptSlots())
      env.refresh()
    }
  }

  async function inBackground(): Promise<void> {
    try {
      await adoptSlots()
      if (!jobs.isIdle()) startJobs()
      await sweeper.sweep()
    } catch {
      // A full disk must not end the process; the next tick retries.
    }
  }

  const timer =
    sweepIntervalMs > 0
      ? setInterval(() => void inBackground(), sweepIntervalMs).unref()
      : undefined

  async function close(): Promise<void> {
    clearInterval(timer)
    await Promise.all([jobs.stop(), sweeper.stop(), adopting?.catch(() => undefined)])
    await queue.close()
    await env.close()
  }

  if (!jobs.isIdle() || hasUnfinished(env)) startJobs()
  // The timer repeats it, and `settled` reports a failure.
  adoptSlots().catch(() => undefined)

  return {
    directory,
    environment: env,
    table: (name) => catalog().byName(name),
    tables,
    createTable: (table: NewTable) =>
      change((tx) => createTable(tx, { ...defaults, ...table }, clock.now())),
    replaceTable: (table: TableChange) => change((tx) => replaceTable(tx, table, clock.now())),
    dropTable: (name, how) => change((tx) => dropTable(tx, name, clock.now(), how)),
    swapTables: (swaps) => change((tx) => swapTables(tx, swaps, clock.now())),
    get(table, key, readOptions) {
      if (closing !== undefined) throw storageClosed(directory)
      if (readOptions?.consistent === true) refresh()
      return readItem(env, table, key)
    },
    getTogether(keys) {
      refresh()
      return readTogether(env, keys)
    },
    range(table, index, query) {
      if (closing !== undefined) throw storageClosed(directory)
      if (query.consistent === true) refresh()
      return readRange(env, table, index, query)
    },
    storedRange(table, query) {
      if (closing !== undefined) throw storageClosed(directory)
      if (query.consistent === true) refresh()
      return readStoredRange(env, table, query)
    },
    count: (table, index) => countOf(table, index).items,
    size: (table, index) => countOf(table, index).bytes,
    refresh,
    write: <T>(run: (tx: WriteTx) => T) => queue.push<T>(run),
    overwrite: (table, item) => queue.push((tx) => tx.overwrite(table, item)),
    sweep: () => sweeper.sweep(),
    async settled() {
      await adoptSlots()
      await jobs.run()
    },
    streams: new Streams(env),
    backups: new Backups(env, change, clock),
    close() {
      closing ??= close()
      return closing
    },
  }
}
