// The LMDB environment of a data directory. It configures the `lmdb` package so that an acknowledged
// write is flushed (no overlapping sync), keys have up to 4,026 bytes (8 KB pages, fixed at creation),
// keys and values are written directly into its buffers, and failed commits report their code. All uses
// of the package's private parts are in this folder; `version.test.ts` lists them and pins its version.

import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { DISK_FULL_ADVICE, isNearlyFull } from '@strongroom/platform/disk-failure'
import type * as lmdb from 'lmdb'
import type { Item } from '../../values/types.ts'
import { copyBytes, type FastBuffer } from './bytes.ts'
import { decodeItem } from '../codec.ts'
import { ERASED, isEncrypted, type Erased } from '../item-keys/encrypted-value.ts'
import { ItemKeys } from '../item-keys/item-keys.ts'
import { cannotOpen, failureCode, writeAdvice } from './failures.ts'
import { createPrivateFiles, DATA_FILE } from './format.ts'
import { writeItemKey } from '../keys.ts'
import { loadLmdb } from './native.ts'
import { openRoot } from './open-root.ts'
import { assertSoundFile } from './pages.ts'
import { otherProcesses, showPresence } from './presence.ts'
import type { KeySchema } from '../storage.ts'

/** A key to write into LMDB's buffer: the key attributes of an item, or encoded bytes. */
export class KeySource {
  id = 0
  keys: KeySchema | undefined
  item: Item | undefined
  bytes: FastBuffer | undefined
  start = 0
  end = 0

  ofItem(id: number, keys: KeySchema, item: Item): this {
    this.id = id
    this.keys = keys
    this.item = item
    return this
  }

  ofBytes(bytes: FastBuffer, start: number, end: number): this {
    this.keys = undefined
    this.bytes = bytes
    this.start = start
    this.end = end
    return this
  }
}

/** An encoded value: LMDB takes the bytes from `start` to `end`. */
export type EncodedValue = FastBuffer & { start: number; end: number }

/** The key of the last entry that a range yielded; overwritten by the next one. */
export interface EntryKey {
  bytes: FastBuffer
  length: number
}

export interface Snapshot {
  done(): void
}

interface RangeOptions {
  start: KeySource
  end: KeySource
  reverse?: boolean
  exclusiveStart?: boolean
  inclusiveEnd?: boolean
  limit?: number
  transaction?: Snapshot
  values?: boolean
}

/** The parts of an lmdb database that are used here, with its real key and value types. */
export interface Table<V> {
  get(key: KeySource, options?: { transaction: Snapshot }): V | undefined
  put(key: KeySource, value: EncodedValue): unknown
  remove(key: KeySource): unknown
  getRange(options: RangeOptions): Iterable<{ key: EntryKey; value: V }>
  getKeys(options: RangeOptions): Iterable<EntryKey>
  getKeysCount(options: RangeOptions): number
}

interface NativeEnvironment {
  startWriting(address: number, callback: (status: number) => unknown): void
}

interface ReadTransaction extends Snapshot {
  address: number
  refCount?: number
}

export interface Databases {
  /** Item keys to items. */
  items: Table<Item | Erased>
  /** The same, as bytes that the next read overwrites. */
  stored: Table<Uint8Array | Erased>
  /** Index and TTL entries to the offset of the item key within their key. */
  entries: Table<number>
  /** Keys of logs to the changes of items. */
  changes: Table<Item | Erased>
  /** Items and changes as they are stored, encrypted or not, as bytes that the next read overwrites. */
  raw: Record<'items' | 'changes', Table<Uint8Array>>
  /** The keys of encrypted items and changes. */
  keys: ItemKeys
  /** The catalog, background jobs and tokens, as JSON. */
  meta: lmdb.Database<unknown>
}

export interface Environment extends Databases {
  root: lmdb.RootDatabase
  /** Called when a snapshot may be newer than the last one. */
  onSnapshot(listener: () => void): void
  /** Called with LMDB's code before the promises of a failed commit are rejected. */
  onCommitFailure(listener: (code: number) => void): void
  /** Begins the snapshot of this turn of the event loop, unless there is one. */
  ensureSnapshot(): void
  /** A snapshot that is kept until `done` is called. */
  snapshot(): Snapshot
  /** Later reads see everything that is committed by now. */
  refresh(): void
  /** The ids of other processes that have the directory open. */
  otherProcesses(): number[]
  /** The number of failed commits of this process whose promises were rejected. */
  readonly commits: { rejected: number }
  close(): Promise<void>
}

export const entryKey: EntryKey = { bytes: Buffer.allocUnsafeSlow(8192) as FastBuffer, length: 0 }

const keyEncoder = {
  writeKey(key: KeySource, target: FastBuffer, start: number): number {
    return key.keys === undefined
      ? copyBytes(key.bytes!, key.start, key.end, target, start)
      : writeItemKey(key.id, key.keys, key.item!, target, start)
  },
  readKey(source: FastBuffer, start: number, end: number): EntryKey {
    entryKey.length = copyBytes(source, start, end, entryKey.bytes, 0)
    return entryKey
  },
}

function encodedWith(decode: (bytes: Uint8Array) => unknown): lmdb.RootDatabaseOptions {
  // By `copyBuffers` lmdb recognises an encoder whose result has a start and an end.
  const encoder = { copyBuffers: true, encode: (value: EncodedValue) => value, decode }
  return { keyEncoder, encoder }
}

function decodeOffset(bytes: Uint8Array): number {
  return (bytes[0]! << 8) | bytes[1]!
}

/** Call from `environment.ts` only, because a process must not open the files twice. */
export function openFiles(directory: string): Environment {
  assertSoundFile(directory)
  assertRoom(directory)
  const root = openOrThrow(directory, () => {
    accessSync(directory, constants.W_OK)
    createPrivateFiles(directory)
    return openRoot({
      path: directory,
      noSubdir: false,
      pageSize: 8192,
      overlappingSync: false,
      // The write queue batches; lmdb's batching leaves an unhandled rejection when a commit fails.
      eventTurnBatching: false,
      maxDbs: 8,
      maxReaders: 256,
    })
  })
  // The reader slots of killed processes would keep old pages from being reused.
  root.readerCheck()
  const presence = openOrThrow(directory, () => showPresence(root))
  const databases = openOrThrow(directory, () => openDatabases(root, directory))
  const reader = databases.meta as unknown as { ensureReadTxn(): void }
  const { keys, raw, ...decoded } = databases
  const emitters = [
    root,
    ...Object.values(decoded),
    ...Object.values(raw),
  ] as unknown as NodeJS.EventEmitter[]
  return {
    root,
    ...databases,
    onSnapshot: (listener) => {
      // lmdb's override of `on` calls super incorrectly.
      for (const emitter of emitters) emitter.addListener('begin-transaction', listener)
    },
    onCommitFailure: (listener) => interceptFailures(root, listener),
    ensureSnapshot: () => reader.ensureReadTxn(),
    snapshot: () => root.useReadTransaction(),
    refresh: () => refresh(root),
    otherProcesses: () => otherProcesses(root),
    commits: { rejected: 0 },
    async close() {
      presence.abort()
      await root.close()
      await keys.close()
    },
  }
}

/** If LMDB cannot write a new file, lmdb may crash the process. */
function assertRoom(directory: string): void {
  const found = statSync(join(directory, DATA_FILE), { throwIfNoEntry: false })
  if ((found?.size ?? 0) === 0 && isNearlyFull(directory))
    throw cannotOpen(directory, DISK_FULL_ADVICE)
}

export function openOrThrow<T>(directory: string, open: () => T): T {
  try {
    return open()
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error)
    throw cannotOpen(directory, writeAdvice(directory, failureCode(error)) ?? detail, error)
  }
}

/** The first process creates the databases, which fails if the disk is full. */
export function openDatabases(root: lmdb.RootDatabase, directory: string): Databases {
  const open = (name: string, decode: (bytes: Uint8Array) => unknown): unknown =>
    root.openDB(name, encodedWith(decode))
  const asBytes = (bytes: Uint8Array): Uint8Array => bytes
  const decrypt = (bytes: Uint8Array): Uint8Array | Erased => keys.open(bytes)
  const decode = (bytes: Uint8Array): Item | Erased => {
    if (!isEncrypted(bytes)) return decodeItem(bytes)
    const plain = decrypt(bytes)
    return plain === ERASED ? ERASED : decodeItem(plain)
  }
  const meta: lmdb.Database<unknown> = root.openDB('meta', { encoding: 'json' })
  const keys = new ItemKeys(meta, directory, () => otherProcesses(root))
  return {
    items: open('items', decode) as Table<Item | Erased>,
    stored: open('items', decrypt) as Table<Uint8Array | Erased>,
    entries: open('entries', decodeOffset) as Table<number>,
    changes: open('changes', decode) as Table<Item | Erased>,
    raw: {
      items: open('items', asBytes) as Table<Uint8Array>,
      changes: open('changes', asBytes) as Table<Uint8Array>,
    },
    keys,
    meta,
  }
}

/**
 * lmdb prints a failed commit to the console and rejects without its code, or does not settle at all if
 * the transaction could not begin. The code is only available in this callback.
 */
function interceptFailures(root: lmdb.RootDatabase, listener: (code: number) => void): void {
  const native = (root as unknown as { env: NativeEnvironment }).env
  const startWriting = native.startWriting.bind(native)
  const intercepted: NativeEnvironment['startWriting'] = (address, callback) => {
    startWriting(address, (status) => {
      if (status === 0 || status === 1 || status === 2) return callback(status)
      listener(status)
      return callback(1)
    })
  }
  Object.defineProperty(native, 'startWriting', { value: intercepted })
}

/**
 * Like lmdb's resetReadTxn, but without the timer that each of its calls creates: a loop of consistent
 * reads that stays in the microtask queue would accumulate them.
 */
function refresh(root: lmdb.RootDatabase): void {
  const current = root.useReadTransaction() as unknown as ReadTransaction
  current.done()
  if ((current.refCount ?? 0) > 0) root.resetReadTxn()
  else loadLmdb().nativeAddon.resetTxn(current.address)
}
