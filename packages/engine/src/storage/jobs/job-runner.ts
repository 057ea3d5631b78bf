// Runs work that outlives its request: filling a new index, copying a table, removing the data of a
// dropped table, index or log. A job is a stored record. Each step is one commit that also stores the
// progress, so a crash costs at most one step, and two processes can work on the same job.

import { performance } from 'node:perf_hooks'
import { owners, tableKey, type Catalog } from '../catalog.ts'
import { copy, repairOrphan } from './copies.ts'
import { removeFromCopies } from '../conversions/copy-contents.ts'
import { encrypt } from './encryption.ts'
import { boundsOf, boundsOfId } from '../bounds.ts'
import { requireKey } from '../item-keys/encrypted-value.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import { ALL_JOBS, type Job, type JobKey } from './jobs.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { WriteQueue } from '../write-queue.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

/** A step is one commit and blocks the event loop, so its time is limited for large items, too. */
const MAX_FILL_ITEMS = 200
const MAX_FILL_MS = 5
const MAX_REMOVE_KEYS = 500

export class JobRunner {
  readonly #env: Environment
  readonly #queue: WriteQueue
  readonly #directory: string
  #running: Promise<void> | undefined
  /** Tables that no copy of a conversion contains any more. */
  readonly #uncopied = new Set<number>()
  #requested = false
  #stopped = false

  constructor(env: Environment, queue: WriteQueue, directory: string) {
    this.#env = env
    this.#queue = queue
    this.#directory = directory
  }

  /** Runs all jobs; rejects if a step failed, which the next call retries. */
  run(): Promise<void> {
    this.#requested = true
    this.#running ??= this.#work()
    return this.#running
  }

  async stop(): Promise<void> {
    this.#stopped = true
    // A failed step was reported to its callers and is retried at the next start.
    await this.#running?.catch(() => undefined)
  }

  isIdle(): boolean {
    return this.#running === undefined && this.#next() === undefined
  }

  #next(): JobKey | undefined {
    for (const key of this.#env.meta.getKeys({ ...ALL_JOBS, limit: 1 })) return key as JobKey
    return undefined
  }

  async #work(): Promise<void> {
    const failed = new Map<string, unknown>()
    try {
      // A caller may have added a job after the last check.
      while (this.#requested && !this.#stopped) {
        this.#requested = false
        while (!this.#stopped && (await this.#step(failed)));
      }
    } finally {
      this.#running = undefined
    }
    for (const cause of failed.values()) throw cause
  }

  /** Skips a job that fails, for example because of a damaged item, so that the others continue. */
  async #step(failed: Map<string, unknown>): Promise<boolean> {
    try {
      await this.#removeCopies(failed)
      return await this.#queue.push((tx) => step(tx, failed, this.#directory))
    } catch (error) {
      // A failed commit is not the fault of a job.
      if (![...failed.values()].includes(error)) throw error
      return true
    }
  }

  /** Before the last step of an encryption: files besides the data file cannot be changed within it. */
  async #removeCopies(failed: Map<string, unknown>): Promise<void> {
    // Read at once, because a range keeps its snapshot.
    const jobs = Array.from(this.#env.meta.getRange({ ...ALL_JOBS }))
    for (const { key, value } of jobs) {
      const job = value as Job
      if (failed.has(String(key)) || job.kind !== 'encrypt' || !job.isEncrypted) continue
      if (this.#uncopied.has(job.table)) continue
      try {
        await removeFromCopies(this.#directory, [job.table])
        this.#uncopied.add(job.table)
      } catch (error) {
        failed.set(String(key), error)
        throw error
      }
    }
  }
}

/**
 * Advances the first job that has not failed; returns false if there is none. It looks for the job inside
 * the write transaction, because a snapshot may be older than the job.
 */
function step(tx: Transaction, failed: Map<string, unknown>, directory: string): boolean {
  for (const { key, value } of tx.env.meta.getRange({ ...ALL_JOBS })) {
    if (failed.has(String(key))) continue
    try {
      advance(tx, key as JobKey, value as Job, directory)
    } catch (error) {
      failed.set(String(key), error)
      throw error
    }
    return true
  }
  // The target of a failed job is unfinished but not an orphan: its job will be retried.
  return failed.size === 0 && repairOrphan(tx)
}

function advance(tx: Transaction, key: JobKey, job: Job, directory: string): void {
  if (job.kind === 'remove') remove(tx, key, job)
  else if (job.kind === 'encrypt') encrypt(tx, key, job, directory)
  else if (job.kind === 'copy') copy(tx, key, job)
  else fill(tx, key, job, tx.catalog)
}

function remove(tx: Transaction, key: JobKey, job: Job & { kind: 'remove' }): void {
  const range = { ...lmdbRange(boundsOfId(job.id), false), limit: MAX_REMOVE_KEYS }
  let found = 0
  for (const stored of tx.env[job.space].getKeys(range)) {
    tx.removeKey(job.space, stored.bytes.subarray(0, stored.length))
    found++
  }
  if (found < MAX_REMOVE_KEYS) tx.putMeta(key, undefined)
}

function fill(tx: Transaction, key: JobKey, job: Job & { kind: 'fill' }, catalog: Catalog): void {
  const table = catalog.byId(job.table)
  const owner = table && owners(table).find((each) => each.id === job.owner)
  if (table === undefined || owner === undefined) return tx.putMeta(key, undefined)
  const bounds = boundsOf(table, undefined, {})
  if (job.after !== undefined) {
    bounds.low = Buffer.concat([Buffer.from(job.after, 'base64'), Buffer.of(0)]) as FastBuffer
  }
  const range = { ...lmdbRange(bounds, false), limit: MAX_FILL_ITEMS }
  const started = performance.now()
  let found = 0
  let last: string | undefined
  for (const { key: stored, value } of tx.env.items.getRange(range)) {
    tx.fill(table, owner, requireKey(value))
    if (++found === MAX_FILL_ITEMS || performance.now() - started > MAX_FILL_MS) {
      last = stored.bytes.toString('base64', 0, stored.length)
      break
    }
  }
  if (last !== undefined) return tx.putMeta(key, { ...job, after: last } satisfies Job)
  tx.putMeta(key, undefined)
  activate(tx, table, job.owner)
}

function activate(tx: Transaction, table: TableRecord, owner: number): void {
  const indexes = table.indexes.map((index) =>
    index.id === owner ? { ...index, status: 'ACTIVE' as const } : index,
  )
  tx.putMeta(tableKey(table.name), { ...table, indexes } satisfies TableRecord)
  tx.raiseVersion()
}
