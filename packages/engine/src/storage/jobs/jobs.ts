// Work that outlives its request: filling a new index, copying a table, removing what belonged to a
// dropped table, index or log. A job is a stored record and each step of it is one commit that also stores how far it got,
// so a crash costs at most one step, and two processes may work on the same job without harm.

import { performance } from 'node:perf_hooks'
import { owners, tableKey, type Catalog } from '../catalog.ts'
import { copy } from './copies.ts'
import { boundsOf, boundsOfId } from '../bounds.ts'
import type { FastBuffer } from '../lmdb/bytes.ts'
import { ALL_JOBS, type Job, type JobKey } from './job-records.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import { repairOrphan } from './lost-copies.ts'
import type { WriteQueue } from '../write-queue.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import type { Transaction } from '../transaction.ts'

/** One step is one commit and runs on the event loop: a few milliseconds each, also of large items. */
const FILL_STEP = 200
const FILL_STEP_MS = 5
const REMOVE_STEP = 500

export class Jobs {
  readonly #env: Environment
  readonly #queue: WriteQueue
  #running: Promise<void> | undefined
  #asked = false
  #stopped = false

  constructor(env: Environment, queue: WriteQueue) {
    this.#env = env
    this.#queue = queue
  }

  /**
   * Works until nothing is left that can be done; rejects if a step failed, which the next call takes
   * up again.
   */
  run(): Promise<void> {
    this.#asked = true
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
      // A caller that arrives while this ends may have added a job that the last check missed.
      while (this.#asked && !this.#stopped) {
        this.#asked = false
        while (!this.#stopped && (await this.#step(failed)));
      }
    } finally {
      this.#running = undefined
    }
    for (const cause of failed.values()) throw cause
  }

  /** A job that fails, such as by a damaged item, must not keep the others waiting. */
  async #step(failed: Map<string, unknown>): Promise<boolean> {
    try {
      return await this.#queue.push((tx) => step(tx, failed))
    } catch (error) {
      if (!(error instanceof JobFailed)) throw error
      failed.set(error.job, error.cause)
      return true
    }
  }
}

class JobFailed extends Error {
  override readonly name = 'JobFailed'
  readonly job: string

  constructor(key: JobKey, cause: unknown) {
    super('A step of a job failed', { cause })
    this.job = String(key)
  }
}

/** Looks for work inside the write transaction, since a snapshot may be of before it; false if there is none. */
function step(tx: Transaction, failed: ReadonlyMap<string, unknown>): boolean {
  for (const { key, value } of tx.env.meta.getRange({ ...ALL_JOBS })) {
    if (failed.has(String(key))) continue
    try {
      advance(tx, key as JobKey, value as Job)
    } catch (error) {
      throw new JobFailed(key as JobKey, error)
    }
    return true
  }
  // What a failed job was to fill is no orphan.
  return failed.size === 0 && repairOrphan(tx)
}

function advance(tx: Transaction, key: JobKey, job: Job): void {
  if (job.kind === 'remove') remove(tx, key, job)
  else if (job.kind === 'copy') copy(tx, key, job)
  else fill(tx, key, job, tx.catalog)
}

function remove(tx: Transaction, key: JobKey, job: Job & { kind: 'remove' }): void {
  const range = { ...lmdbRange(boundsOfId(job.id), false), limit: REMOVE_STEP }
  let found = 0
  for (const stored of tx.env[job.space].getKeys(range)) {
    tx.removeKey(job.space, stored.bytes.subarray(0, stored.length))
    found++
  }
  if (found < REMOVE_STEP) tx.putMeta(key, undefined)
}

function fill(tx: Transaction, key: JobKey, job: Job & { kind: 'fill' }, catalog: Catalog): void {
  const table = catalog.byId(job.table)
  const owner = table && owners(table).find((each) => each.id === job.owner)
  if (table === undefined || owner === undefined) return tx.putMeta(key, undefined)
  const bounds = boundsOf(table, undefined, {})
  if (job.after !== undefined) {
    bounds.low = Buffer.concat([Buffer.from(job.after, 'base64'), Buffer.of(0)]) as FastBuffer
  }
  const range = { ...lmdbRange(bounds, false), limit: FILL_STEP }
  const started = performance.now()
  let found = 0
  let last: string | undefined
  for (const { key: stored, value } of tx.env.items.getRange(range)) {
    tx.fill(table, owner, value)
    if (++found === FILL_STEP || performance.now() - started > FILL_STEP_MS) {
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
