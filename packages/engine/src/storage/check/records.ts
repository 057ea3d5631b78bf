// Checks the records of a data directory in one snapshot: every item decodes and is stored under its own
// key, every index and TTL entry belongs to an item, no item lacks an entry, and every change belongs to a
// log. Entries that a background job has yet to add or remove are not problems. Memory is constant apart
// from the catalog.

import { itemSize } from '../../values/size.ts'
import type { Item } from '../../values/types.ts'
import { owners, type EntryOwner } from '../catalog.ts'
import { hasEntry, projectedSize, writeEntryKey } from '../indexes.ts'
import { ERASED, type Erased } from '../item-keys/encrypted-value.ts'
import { writeItemKey } from '../keys.ts'
import { allocate, type FastBuffer } from '../lmdb/bytes.ts'
import { entryKey, KeySource, type Databases, type Snapshot, type Table } from '../lmdb/lmdb.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import { type CatalogContents, readCatalog } from './catalog.ts'
import { ChangeCheck } from './changes.ts'
import { CountCheck } from './counts.ts'
import type { ProblemKind, Problems } from './problems.ts'

export interface RecordCounts {
  items: number
  entries: number
  changes: number
}

export interface RecordCheckOptions {
  onProgress?: ((checked: RecordCounts) => void) | undefined
  /** While others write: whether a value that has no key any more was replaced or removed meanwhile. */
  isReplaced?: (table: Table<unknown>, key: KeySource) => boolean
}

const YIELD_EVERY = 500

export async function checkRecords(
  databases: Databases,
  transaction: Snapshot,
  problems: Problems,
  options: RecordCheckOptions = {},
): Promise<RecordCounts & { catalog: CatalogContents }> {
  const catalog = readCatalog(databases, transaction, problems)
  const check = new RecordCheck(databases, transaction, catalog, problems, options)
  await check.items()
  await check.entries()
  await check.changes()
  check.counts.compare(catalog, problems)
  return { ...check.checked, catalog }
}

class RecordCheck {
  readonly counts = new CountCheck()
  readonly checked: RecordCounts = { items: 0, entries: 0, changes: 0 }
  readonly #databases: Databases
  readonly #snapshot: { transaction: Snapshot }
  readonly #problems: Problems
  readonly #options: RecordCheckOptions
  readonly #changes: ChangeCheck
  readonly #tables: Map<number, TableRecord>
  /** The names of the backups whose items are stored under these ids. */
  readonly #backups = new Map<number, string>()
  readonly #owners = new Map<number, { table: TableRecord; owner: EntryOwner }>()
  readonly #filling = new Set<number>()
  readonly #removing = new Set<number>()
  readonly #source = new KeySource()
  readonly #itemKey = allocate(8192)
  readonly #entryKey = allocate(16384)

  constructor(
    databases: Databases,
    transaction: Snapshot,
    catalog: CatalogContents,
    problems: Problems,
    options: RecordCheckOptions,
  ) {
    this.#databases = databases
    this.#snapshot = { transaction }
    this.#problems = problems
    this.#options = options
    this.#changes = new ChangeCheck(catalog)
    this.#tables = new Map(catalog.tables.map((table) => [table.id, table]))
    for (const table of catalog.tables) {
      for (const owner of owners(table)) this.#owners.set(owner.id, { table, owner })
      // The next start fills an index without a job again.
      for (const { id, status } of table.indexes) if (status === 'CREATING') this.#filling.add(id)
    }
    for (const { space, name } of catalog.backups) {
      this.#tables.set(space.id, space)
      this.#backups.set(space.id, name)
    }
    for (const job of catalog.jobs) {
      if (job.kind === 'fill') this.#filling.add(job.owner)
      else if (job.kind === 'remove') this.#removing.add(job.id)
    }
  }

  async items(): Promise<void> {
    const { items } = this.#databases
    await this.#scan(items, 'item', (key, item) => {
      this.checked.items++
      const id = idOf(key)
      const table = this.#tables.get(id)
      if (item === ERASED) {
        this.counts.ignore(id)
        this.#erased(items, 'item', key)
      } else if (table !== undefined) this.#item(table, key, item)
      else if (!this.#removing.has(id)) {
        this.#problem('item', `An item belongs to no table (id ${id})`)
      }
    })
  }

  async entries(): Promise<void> {
    await this.#scan(this.#databases.entries, 'index', (key, offset) => {
      this.checked.entries++
      const id = idOf(key)
      const known = this.#owners.get(id)
      if (known !== undefined) this.#entry(known.table, known.owner, key, offset)
      else if (!this.#removing.has(id)) {
        this.#problem('index', `An entry belongs to no index (id ${id})`)
      }
    })
  }

  async changes(): Promise<void> {
    const { changes } = this.#databases
    await this.#scan(changes, 'change', (key, change) => {
      this.checked.changes++
      if (this.#removing.has(idOf(key))) return
      if (change === ERASED) return this.#erased(changes, 'change', key)
      const problem = this.#changes.problem(key, change)
      if (problem !== undefined) this.#problem('change', problem)
    })
  }

  /** Every value of the newest state must have its key. */
  #erased(table: Table<unknown>, kind: 'item' | 'change', key: FastBuffer): void {
    if (this.#removing.has(idOf(key))) return
    if (this.#options.isReplaced?.(table, new KeySource().ofBytes(key, 0, key.length))) return
    const text = `${WHAT[kind]} of ${this.#ownerOf(key)} cannot be decrypted: its key is missing or does not fit`
    this.#problem(kind, text, key)
  }

  #item(table: TableRecord, key: FastBuffer, item: Item): void {
    this.counts.add(table.id, itemSize(item))
    if (!this.#hasKey(table, key, item)) {
      const text = `An item of ${this.#ownerOf(key)} is stored under a key that is not its own`
      return this.#problem('item', text, key)
    }
    for (const owner of owners(table)) {
      if (this.#filling.has(owner.id) || !hasEntry(owner, item)) continue
      const itemKey = { bytes: key, start: 0, end: key.length }
      const entry = writeEntryKey(owner, item, itemKey, this.#entryKey, 0)
      const source = this.#source.ofBytes(this.#entryKey, 0, entry.end)
      if (this.#databases.entries.get(source, this.#snapshot) !== entry.offset) {
        this.#problem(
          kindOf(owner),
          `An item of table "${table.name}" has no entry in ${nameOf(owner)}`,
        )
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
    if (offset > 0 && offset < key.length) {
      let item: Item | Erased | undefined
      try {
        const source = this.#source.ofBytes(key, offset, key.length)
        item = this.#databases.items.get(source, this.#snapshot)
      } catch {
        // The check of the items has already reported it.
        return
      }
      // The check of the items has already reported it, too.
      if (item === ERASED) return this.counts.ignore(owner.id)
      if (item !== undefined && hasEntry(owner, item)) {
        if ('keys' in owner) {
          this.counts.add(owner.id, projectedSize(table, owner, item, itemSize(item)))
        }
        const itemKey = { bytes: key, start: offset, end: key.length }
        const { end } = writeEntryKey(owner, item, itemKey, this.#entryKey, 0)
        if (key.compare(this.#entryKey, 0, end) === 0) return
      }
    }
    const place = `${nameOf(owner)} of table "${table.name}"`
    this.#problem(kindOf(owner), `An entry in ${place} does not belong to any item`)
  }

  /** Continues after a value that cannot be decoded. */
  async #scan<V>(
    table: Table<V>,
    kind: 'item' | 'index' | 'change',
    visit: (key: FastBuffer, value: V) => void,
  ): Promise<void> {
    const high = Buffer.alloc(8, 0xff) as FastBuffer
    let low = Buffer.of(0) as FastBuffer
    for (let done = false; !done && !this.#problems.isFull;) {
      const range = { ...lmdbRange({ low, high }, false), ...this.#snapshot }
      try {
        let seen = 0
        for (const { value } of table.getRange(range)) {
          const key = entryBytes()
          if (idOf(key) === 0) this.#problem(kind, `${WHAT[kind]} has a key without an id`)
          else visit(key, value)
          if (++seen % YIELD_EVERY === 0) await this.#yield()
        }
        done = true
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error)
        const key = entryBytes()
        this.#problem(kind, `${WHAT[kind]} of ${this.#ownerOf(key)} cannot be read: ${detail}`, key)
        low = Buffer.concat([key, Buffer.of(0)]) as FastBuffer
      }
    }
  }

  async #yield(): Promise<void> {
    this.#options.onProgress?.(this.checked)
    await new Promise((resolve) => setImmediate(resolve))
  }

  /** Whose record a key belongs to. */
  #ownerOf(key: FastBuffer): string {
    const id = idOf(key)
    const backup = this.#backups.get(id)
    if (backup !== undefined) return `backup "${backup}"`
    const table = this.#tables.get(id) ?? this.#owners.get(id)?.table
    return table === undefined ? `id ${id}` : `table "${table.name}"`
  }

  /** Items of backups are copies. */
  #problem(kind: ProblemKind, text: string, key?: FastBuffer): void {
    const isBackup = key !== undefined && this.#backups.has(idOf(key))
    if (isBackup) this.#problems.add('backup', 'rebuild', text)
    else this.#problems.add(kind, kind === 'item' ? 'restore' : 'rebuild', text)
  }
}

const ID_BYTES = 4
const WHAT = { item: 'An item', index: 'An entry', change: 'A change' } as const

function idOf(key: FastBuffer): number {
  return key.length < ID_BYTES ? 0 : key.readUInt32BE(0)
}

function entryBytes(): FastBuffer {
  return Buffer.from(entryKey.bytes.subarray(0, entryKey.length)) as FastBuffer
}

function kindOf(owner: EntryOwner): 'index' | 'ttl' {
  return 'keys' in owner ? 'index' : 'ttl'
}

function nameOf(owner: EntryOwner): string {
  return 'keys' in owner ? `index "${owner.name}"` : `the TTL list on "${owner.attribute}"`
}
