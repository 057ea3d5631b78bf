// The write queue: all writes that are queued when LMDB grants the write lock become one commit, so
// concurrent writes share one flush. The commit is a child transaction, which rolls back as a whole if
// applying fails. Promises settle only after the flush. This includes the promise of a `run` that threw,
// because its decision may depend on writes of the same commit. If the commit replaced encrypted values,
// they also wait until the keys of those are overwritten and flushed.

import { performance } from 'node:perf_hooks'
import type { DynamoError } from '../errors.ts'
import { commitFailed, erasureFailed, failureCode, storageClosed } from './lmdb/failures.ts'
import type { KeyWork } from './item-keys/item-keys.ts'
import type { Environment } from './lmdb/lmdb.ts'
import type { Transaction } from './transaction.ts'

interface Waiting {
  run: (tx: Transaction) => unknown
  resolve(value: unknown): void
  reject(error: unknown): void
  failed: boolean
  outcome: unknown
}

/** Limits how long one commit blocks the event loop. */
const MAX_COMMIT_MS = 15
const MAX_COMMIT_BYTES = 4 << 20
/**
 * What callers do after a write runs before anything else, so a large commit settles its promises in
 * several turns of the event loop.
 */
const MAX_SETTLED_PER_TURN = 64

export class WriteQueue {
  readonly #env: Environment
  readonly #transaction: Transaction
  readonly #directory: string
  #waiting: Waiting[] = []
  #committing = new Set<Waiting[]>()
  /** Commits that are on disk; the keys of what they replaced are being overwritten. */
  #erasing = new Set<Waiting[]>()
  /** Commits whose promises are being settled, in their order. */
  #settling: Waiting[][] = []
  #scheduled = false
  #executing = false
  #closed = false
  #broken: DynamoError | undefined
  #code = 0
  #onIdle: (() => void)[] = []

  constructor(env: Environment, transaction: Transaction, directory: string) {
    this.#env = env
    this.#transaction = transaction
    this.#directory = directory
    env.onCommitFailure((code) => this.#noteFailure(code))
  }

  push<T>(run: (tx: Transaction) => T): Promise<T> {
    if (this.#closed) return Promise.reject(storageClosed(this.#directory))
    if (this.#broken !== undefined) return Promise.reject(this.#broken)
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({
        run,
        resolve,
        reject,
        failed: false,
        outcome: undefined,
      })
      this.#schedule()
    })
  }

  /** Rejects new writes; resolves when the queued ones have settled. */
  async close(): Promise<void> {
    this.#closed = true
    if (this.#isIdle()) return
    await new Promise<void>((resolve) => this.#onIdle.push(resolve))
  }

  #isIdle(): boolean {
    const unsettled = this.#committing.size + this.#erasing.size + this.#settling.length
    return this.#waiting.length + unsettled === 0
  }

  #schedule(): void {
    // Inside a running transaction lmdb would nest the next one instead of queueing it.
    if (this.#scheduled || this.#executing || this.#broken !== undefined) return
    this.#scheduled = true
    const batch: Waiting[] = []
    let work: KeyWork | undefined
    this.#env.root
      .childTransaction(() => {
        work = this.#execute(batch)
      })
      .then(
        () => (work === undefined ? this.#settle(batch) : this.#completeKeys(batch, work)),
        (error: unknown) => this.#rejectAll(batch, error),
      )
  }

  /** The next commit need not wait for it. */
  #completeKeys(batch: Waiting[], work: KeyWork): void {
    const completed = this.#env.keys.complete(work)
    if (work.erase.length === 0) {
      // Keys that could not be prepared are not used.
      completed.catch(() => undefined)
      return this.#settle(batch)
    }
    this.#committing.delete(batch)
    this.#erasing.add(batch)
    if (this.#waiting.length > 0) this.#schedule()
    completed.then(
      () => this.#settle(batch),
      (error: unknown) => {
        for (const waiting of batch) {
          // What was refused has stored and replaced nothing.
          if (waiting.failed) continue
          waiting.failed = true
          waiting.outcome = erasureFailed(this.#directory, error)
        }
        this.#settle(batch)
      },
    )
  }

  #execute(batch: Waiting[]): KeyWork | undefined {
    this.#scheduled = false
    this.#executing = true
    this.#committing.add(batch)
    try {
      const transaction = this.#transaction
      this.#refreshCatalog(batch)
      transaction.beginCommit()
      const started = performance.now()
      let bytes = 0
      for (let next = 0; next < this.#waiting.length && bytes < MAX_COMMIT_BYTES;) {
        const waiting = this.#waiting[next++]!
        batch.push(waiting)
        if (this.#ran(waiting)) {
          transaction.apply()
          bytes += transaction.size
        }
        if ((next & 15) === 0 && performance.now() - started > MAX_COMMIT_MS) break
      }
      return transaction.endCommit()
    } finally {
      this.#waiting = this.#waiting.slice(batch.length)
      this.#executing = false
      // Releases the buffers of the last `run`.
      this.#transaction.begin()
    }
  }

  /** If the catalog cannot be read, all queued writes fail, so that none waits forever. */
  #refreshCatalog(batch: Waiting[]): void {
    try {
      this.#transaction.catalog.refresh()
    } catch (error) {
      for (const waiting of this.#waiting) batch.push(waiting)
      throw error
    }
  }

  #ran(waiting: Waiting): boolean {
    this.#transaction.begin()
    try {
      waiting.outcome = waiting.run(this.#transaction)
    } catch (error) {
      waiting.failed = true
      waiting.outcome = error
    }
    return !waiting.failed
  }

  #settle(batch: Waiting[]): void {
    this.#committing.delete(batch)
    this.#erasing.delete(batch)
    const isSettling = this.#settling.length > 0
    this.#settling.push(batch)
    if (this.#waiting.length > 0) this.#schedule()
    if (!isSettling) this.#settleNext(0)
  }

  #settleNext(from: number): void {
    const batch = this.#settling[0]
    if (!batch) return
    const to = from + MAX_SETTLED_PER_TURN
    for (const waiting of batch.slice(from, to)) {
      if (waiting.failed) waiting.reject(waiting.outcome)
      else waiting.resolve(waiting.outcome)
    }
    if (to < batch.length) return void setImmediate(() => this.#settleNext(to))
    this.#settling.shift()
    this.#continue()
    if (this.#settling.length > 0) setImmediate(() => this.#settleNext(0))
  }

  #rejectAll(batch: Waiting[], error: unknown): void {
    this.#env.commits.rejected++
    this.#committing.delete(batch)
    // The catalog may contain changes of the failed transaction.
    this.#transaction.catalog.invalidate()
    const failure = commitFailed(this.#directory, failureCode(error) || this.#code)
    failure.cause = error
    for (const waiting of batch) waiting.reject(failure)
    this.#continue()
  }

  #continue(): void {
    if (this.#waiting.length > 0) this.#schedule()
    if (this.#isIdle()) {
      for (const resolve of this.#onIdle) resolve()
      this.#onIdle = []
    }
  }

  /**
   * If a transaction could not begin, lmdb never settles its promises and keeps its lock: nothing can be
   * written until the process restarts.
   */
  #noteFailure(code: number): void {
    this.#code = code
    const before = this.#env.commits.rejected
    setImmediate(() => {
      if (this.#env.commits.rejected > before) return
      this.#broken = commitFailed(this.#directory, code)
      for (const batch of [this.#waiting, ...this.#committing]) {
        for (const waiting of batch) waiting.reject(this.#broken)
      }
      this.#waiting = []
      this.#committing.clear()
      this.#continue()
    })
  }
}
