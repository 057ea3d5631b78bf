// Reads the catalog of a data directory for a check: tables, streams, backups, jobs and tokens. Unlike the
// catalog of a running engine it expects records to be damaged, reports those, and leaves them out.

import type { BackupRecord } from '../backups/backup-records.ts'
import { owners } from '../catalog.ts'
import type { Position } from '../changes/changes.ts'
import type { Count } from '../counts.ts'
import type { StreamRecord } from '../changes/streams.ts'
import type { Job } from '../jobs/jobs.ts'
import type { Databases, Snapshot } from '../lmdb/lmdb.ts'
import type { TableRecord } from '../storage.ts'
import { tokenExpiryKey } from '../tokens.ts'
import type { ProblemKind, Problems, Remedy } from './problems.ts'
import {
  isBackup,
  isCounted,
  isJob,
  isPosition,
  isSlotRecord,
  isStream,
  isTable,
  isToken,
} from './record-shapes.ts'

export interface CatalogContents {
  tables: TableRecord[]
  streams: StreamRecord[]
  backups: BackupRecord[]
  jobs: Job[]
  /** The stored counts, by id of table or index. */
  counts: Map<number, Count>
  /** The last change of any log. */
  last: Position
}

type MetaKey = string | (string | number)[]

/** Which kind of record a key belongs to. */
const KINDS: Readonly<Record<string, ProblemKind>> = {
  table: 'catalog',
  version: 'catalog',
  'next-id': 'catalog',
  sequence: 'change',
  conversion: 'catalog',
  stream: 'stream',
  backup: 'backup',
  job: 'job',
  token: 'token',
  'token-expiry': 'token',
  count: 'count',
  slot: 'key',
}

export function readCatalog(
  { meta }: Pick<Databases, 'meta'>,
  transaction: Snapshot,
  problems: Problems,
): CatalogContents {
  const snapshot = { transaction } as object
  const contents = new Contents(problems)
  try {
    for (const key of meta.getKeys(snapshot)) {
      if (problems.isFull) break
      let value: unknown
      try {
        value = meta.get(key, snapshot)
      } catch {
        contents.unreadable(key as MetaKey)
        continue
      }
      contents.add(key as MetaKey, value, (other) => meta.get(other, snapshot) !== undefined)
    }
  } catch {
    problems.add('catalog', 'restore', 'The catalog has a key that cannot be read')
  }
  contents.compareIds()
  contents.compareStreams()
  return contents
}

class Contents implements CatalogContents {
  readonly tables: TableRecord[] = []
  readonly streams: StreamRecord[] = []
  readonly backups: BackupRecord[] = []
  readonly jobs: Job[] = []
  readonly counts = new Map<number, Count>()
  last: Position = { sequence: 0, at: 0 }
  readonly #jobIds: number[] = []
  readonly #problems: Problems
  #nextId = Number.POSITIVE_INFINITY

  constructor(problems: Problems) {
    this.#problems = problems
  }

  unreadable(key: MetaKey): void {
    this.#problems.add(KINDS[wordOf(key)] ?? 'catalog', 'restore', `${nameOf(key)} cannot be read`)
  }

  add(key: MetaKey, value: unknown, isStored: (key: MetaKey) => boolean): void {
    const word = wordOf(key)
    const kind = KINDS[word]
    if (kind === undefined) {
      return this.#problems.add('catalog', 'restore', 'The catalog has a record of an unknown kind')
    }
    if (!this.#accept(word, key, value, isStored)) {
      // What is not an object fails every start.
      const isObject = typeof value === 'object' && value !== null
      const remedy: Remedy = kind === 'catalog' || !isObject ? 'restore' : 'rebuild'
      this.#problems.add(kind, remedy, `${nameOf(key)} is damaged`)
    }
  }

  #accept(
    word: string,
    key: MetaKey,
    value: unknown,
    isStored: (key: MetaKey) => boolean,
  ): boolean {
    switch (word) {
      case 'table':
        return isTable(value) && value.name === key[1] && this.tables.push(value) > 0
      case 'stream':
        return isStream(value) && value.id === key[1] && this.streams.push(value) > 0
      case 'backup':
        return isBackup(value) && value.id === key[1] && this.backups.push(value) > 0
      case 'job':
        this.#jobIds.push(Number(key[1]))
        return isJob(value) && this.jobs.push(value) > 0
      case 'slot':
        return isSlotRecord(key, value)
      case 'count':
        return isCounted(value) && this.counts.set(Number(key[1]), value).size > 0
      case 'token':
        return isToken(value) && isStored(tokenExpiryKey(value.expiresAt, String(key[1])))
      case 'sequence':
        if (!isPosition(value)) return false
        this.last = value
        return true
      case 'next-id':
        if (!Number.isSafeInteger(value)) return false
        this.#nextId = value as number
        return true
      case 'version':
        return Number.isSafeInteger(value)
      default:
        return true
    }
  }

  /** Ids are prefixes of keys: if two share one, or a new one gets an old one, data is mixed up. */
  compareIds(): void {
    const seen = new Set<number>()
    for (const { id, what } of this.#ids()) {
      if (id >= this.#nextId) {
        this.#problems.add('catalog', 'restore', `${what} has an id that will be assigned again`)
      }
      if (seen.has(id)) {
        this.#problems.add('catalog', 'restore', `${what} has the id of something else`)
      }
      seen.add(id)
    }
  }

  *#ids(): Iterable<{ id: number; what: string }> {
    for (const table of this.tables) {
      const what = `Table "${table.name}"`
      yield { id: table.id, what }
      for (const { id } of owners(table)) yield { id, what: `An index or TTL list of ${what}` }
      for (const { id } of table.logs ?? []) yield { id, what: `A log of ${what}` }
    }
    for (const { id, name } of this.backups) yield { id, what: `Backup "${name}"` }
    for (const id of this.#jobIds) yield { id, what: 'A background job' }
  }

  compareStreams(): void {
    const streams = new Set(this.streams.map(({ id }) => id))
    const logs = new Set(this.tables.flatMap(({ logs: own = [] }) => own.map(({ id }) => id)))
    for (const { name, logs: own = [] } of this.tables) {
      for (const { id, kind } of own) {
        if (kind !== 'stream' || streams.has(id)) continue
        this.#problems.add('stream', 'rebuild', `The stream of table "${name}" has no record`)
      }
    }
    for (const { id, tableName, closed } of this.streams) {
      if (closed !== undefined || logs.has(id)) continue
      this.#problems.add(
        'stream',
        'rebuild',
        `A stream of table "${tableName}" is open, but the table does not write to it`,
      )
    }
  }
}

function wordOf(key: MetaKey): string {
  return String(typeof key === 'string' ? key : key[0])
}

/** Tokens and their hashes are left out. */
function nameOf(key: MetaKey): string {
  const word = wordOf(key)
  switch (word) {
    case 'table':
      return `The record of table "${key[1]}"`
    case 'stream':
    case 'backup':
    case 'job':
    case 'count':
      return `The record of ${word} ${key[1]}`
    case 'token':
    case 'token-expiry':
      return 'The record of an idempotency token'
    default:
      return `The record "${word}" of the catalog`
  }
}
