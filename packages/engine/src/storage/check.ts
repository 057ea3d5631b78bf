// Verifies a data directory: every item decodes and is stored under its own key, every index and TTL
// entry belongs to an item, no item lacks an entry, and the stored counts are those of the items. It
// works on one snapshot while others write. Entries that a background job has yet to add or remove are
// not problems.

import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import { allBackups } from './backups/backup-records.ts'
import { allocate, type FastBuffer } from './lmdb/bytes.ts'
import { owners, type EntryOwner } from './catalog.ts'
import { ALL_COUNTS, type Count, readCount } from './counts.ts'
import { hasEntry, projectedSize, writeEntryKey } from './indexes.ts'
import { ERASED, type Erased } from './item-keys/encrypted-value.ts'
import type { Job } from './jobs/jobs.ts'
import { writeItemKey } from './keys.ts'
import { entryKey, KeySource, type Environment, type Snapshot, type Table } from './lmdb/lmdb.ts'
import type { OpenStorage } from './open-storage.ts'
import { lmdbRange, readCurrent } from './reads.ts'
import type { TableRecord } from './storage.ts'
import { allStreams } from './changes/streams.ts'

export interface CheckReport {
  items: number
  entries: number
  /** At most a hundred. */
  problems: string[]
}

interface CheckOptions {
  onProgress?: (checked: { items: number; entries: number }) => void
}

const MAX_PROBLEMS = 100
const YIELD_EVERY = 500

export async function checkStorage(
  storage: OpenStorage,
  options: CheckOptions = {},
): Promise<CheckReport> {
  storage.refresh()
  const tables = storage.tables()
  const transaction = storage.environment.snapshot()
  try {
    const check = new Check(storage.environment, transaction, tables, options)
    await check.items()
    await check.entries()
    await check.changes()
    check.counts()
    return check.report
  } finally {
    transaction.done()
  }
}

class Check {
  readonly report: CheckReport = { items: 0, entries: 0, problems: [] }
  readonly #env: Environment
  readonly #snapshot: { transaction: Snapshot }
  readonly #options: CheckOptions
  readonly #tables: Map<number, TableRecord>
  readonly #owners = new Map<number, { table: TableRecord; owner: EntryOwner }>()
  readonly #logs = new Set<number>()
  readonly #filling = new Set<number>()
  readonly #removing = new Set<number>()
  /** What was found, by id of table, index or backup. */
  readonly #found = new Map<number, Count>()
  /** Tables with items that could not be read, because they were replaced during the check. */
  readonly #uncounted = new Set<number>()
  /** The counts of finished backups, which are in their records. */
  readonly #backups = new Map<number, Count>()
  readonly #source = new KeySource()
  readonly #itemKey = allocate(8192)
  readonly #entryKey = allocate(16384)

  constructor(
    env: Environment,
    transaction: Snapshot,
    tables: TableRecord[],
    options: CheckOptions,
  ) {
    this.#env = env
    this.#snapshot = { transaction }
    this.#options = options
    this.#tables = new Map(tables.map((table) => [table.id, table]))
    for (const table of tables) {
      for (const owner of owners(table)) this.#owners.set(owner.id, { table, owner })
    }
    for (const { space, status, items, bytes } of allBackups(env)) {
      this.#tables.set(space.id, space)
      if (status === 'AVAILABLE') this.#backups.set(space.id, { items, bytes })
    }
    for (const { logs = [] } of tables) for (const { id } of logs) this.#logs.add(id)
    for (const { id } of allStreams(env)) this.#logs.add(id)
    const jobs = env.meta.getRange({ start: ['job'], end: ['job!'], ...this.#snapshot })
    for (const { value } of jobs) {
      const job = value as Job
      if (job.kind === 'fill') this.#filling.add(job.owner)
      else if (job.kind === 'remove') this.#removing.add(job.id)
    }
  }

  async items(): Promise<void> {
    await this.#scan(this.#env.items, 'An item', (key, item) => {
      this.report.items++
      const id = key.readUInt32BE(0)
      const table = this.#tables.get(id)
      if (item === ERASED) this.#erased(id, key)
      else if (table !== undefined) this.#item(table, key, item)
      else if (!this.#removing.has(id)) this.#problem(`An item belongs to no table (id ${id})`)
    })
  }

  async entries(): Promise<void> {
    await this.#scan(this.#env.entries, 'An entry', (key, offset) => {
      this.report.entries++
      const id = key.readUInt32BE(0)
      const known = this.#owners.get(id)
      if (known !== undefined) this.#entry(known.table, known.owner, key, offset)
      else if (!this.#removing.has(id)) this.#problem(`An entry belongs to no index (id ${id})`)
    })
  }

  async changes(): Promise<void> {
    await this.#scan(this.#env.changes, 'A change', (key) => {
      const id = key.readUInt32BE(0)
      if (!this.#logs.has(id) && !this.#removing.has(id)) {
        this.#problem(`A change belongs to no table or stream (id ${id})`)
      }
    })
  }

  /** An item that was replaced after the snapshot began has no key; one that is still there must. */
  #erased(id: number, key: FastBuffer): void {
    readCurrent(this.#env, this.#env.items, this.#source.ofBytes(key, 0, key.length))
    this.#uncounted.add(id)
  }

  /** Not after so many problems that the check stopped. */
  counts(): void {
    if (this.report.problems.length >= MAX_PROBLEMS) return
    for (const [id, { name }] of this.#tables) {
      if (this.#uncounted.has(id)) continue
      this.#compareCount(id, name === '' ? 'A backup' : `Table "${name}"`)
    }
    for (const [id, { table, owner }] of this.#owners) {
      if (this.#uncounted.has(table.id)) continue
      if ('keys' in owner) this.#compareCount(id, `Index "${owner.name}" of table "${table.name}"`)
    }
    for (const { key } of this.#env.meta.getRange({ ...ALL_COUNTS, ...this.#snapshot })) {
      const id = (key as [string, number])[1]
      if (this.#tables.has(id) || this.#owners.has(id)) continue
      this.#problem(`A count belongs to no table or index (id ${id})`)
    }
  }

  #compareCount(id: number, what: string): void {
    const { items, bytes } = this.#found.get(id) ?? { items: 0, bytes: 0 }
    const stored = this.#backups.get(id) ?? readCount(this.#env, id, this.#snapshot)
    if (stored.items === items && stored.bytes === bytes) return
    this.#problem(
      `${what} has ${items} items of ${bytes} bytes, but its stored count is ${stored.items} items of ${stored.bytes} bytes`,
    )
  }

  #count(id: number, bytes: number): void {
    const found = this.#found.get(id)
    if (found === undefined) this.#found.set(id, { items: 1, bytes })
    else {
      found.items++
      found.bytes += bytes
    }
  }

  #item(table: TableRecord, key: FastBuffer, item: Item): void {
    this.#count(table.id, itemSize(item))
    if (!this.#hasKey(table, key, item)) {
      this.#problem(`An item of table "${table.name}" is stored under a key that is not its own`)
      return
    }
    for (const owner of owners(table)) {
      if (this.#filling.has(owner.id) || !hasEntry(owner, item)) continue
      const itemKey = { bytes: key, start: 0, end: key.length }
      const entry = writeEntryKey(owner, item, itemKey, this.#entryKey, 0)
      const source = this.#source.ofBytes(this.#entryKey, 0, entry.end)
      if (this.#env.entries.get(source, this.#snapshot) !== entry.offset) {
        this.#problem(`An item of table "${table.name}" has no entry in ${nameOf(owner)}`)
      }
    }
  }

  #hasKey(table: TableRecord, key: FastBuffer, item: Item): boolean {
    try {
      const end = writeItemKey(table.id, table.keys, item, this.#itemKey, 0)
      return key.compare(this.#itemKey, 0, end) === 0
    } catch {
      // A key attribute is missing or has another type.
      return false
    }
  }

  #entry(table: TableRecord, owner: EntryOwner, key: FastBuffer, offset: number): void {
    let item: Item | Erased | undefined
    try {
      item = this.#env.items.get(this.#source.ofBytes(key, offset, key.length), this.#snapshot)
    } catch {
      // The check of the items has already reported it.
      return
    }
    // Replaced after the snapshot began.
    if (item === ERASED) {
      this.#uncounted.add(table.id)
      return
    }
    if (item !== undefined && hasEntry(owner, item)) {
      if ('keys' in owner) {
        this.#count(owner.id, projectedSize(table, owner, item, itemSize(item)))
      }
      const itemKey = { bytes: key, start: offset, end: key.length }
      const { end } = writeEntryKey(owner, item, itemKey, this.#entryKey, 0)
      if (key.compare(this.#entryKey, 0, end) === 0) return
    }
    const place = `${nameOf(owner)} of table "${table.name}"`
    this.#problem(`An entry in ${place} does not belong to any item`)
  }

  /** Continues after a value that cannot be decoded. */
  async #scan<V>(
    table: Table<V>,
    what: string,
    visit: (key: FastBuffer, value: V) => void,
  ): Promise<void> {
    const high = Buffer.alloc(8, 0xff) as FastBuffer
    let low = Buffer.of(0) as FastBuffer
    for (let done = false; !done && this.report.problems.length < MAX_PROBLEMS;) {
      const range = { ...lmdbRange({ low, high }, false), ...this.#snapshot }
      try {
        let seen = 0
        for (const { value } of table.getRange(range)) {
          visit(entryBytes(), value)
          if (++seen % YIELD_EVERY === 0) await this.#yield()
        }
        done = true
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error)
        this.#problem(`${what} cannot be read: ${detail}`)
        low = Buffer.concat([entryBytes(), Buffer.of(0)]) as FastBuffer
      }
    }
  }

  async #yield(): Promise<void> {
    this.#options.onProgress?.({ items: this.report.items, entries: this.report.entries })
    await new Promise((resolve) => setImmediate(resolve))
  }

  #problem(text: string): void {
    if (this.report.problems.length < MAX_PROBLEMS) this.report.problems.push(text)
  }
}

function entryBytes(): FastBuffer {
  return Buffer.from(entryKey.bytes.subarray(0, entryKey.length)) as FastBuffer
}

function nameOf(owner: EntryOwner): string {
  return 'keys' in owner ? `index "${owner.name}"` : `the TTL list on "${owner.attribute}"`
}
