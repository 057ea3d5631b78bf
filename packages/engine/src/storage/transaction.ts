// One `run` of a write: its reads, and its writes, encoded but not applied. They are applied after `run`
// has returned, so a `run` that throws has written nothing, and an item that cannot be encoded fails
// before the first byte reaches LMDB.

import { resourceNotFound } from '../errors.ts'
import type { Clock } from '@strongroom/platform/clock'
import { equal } from '../values/compare.ts'
import { itemSize } from '../values/size.ts'
import type { Item } from '../values/types.ts'
import {
  changeOf,
  imagesOf,
  type Position,
  SEQUENCE_KEY,
  writeChangeKey,
} from './changes/changes.ts'
import { owners, VERSION_KEY, type Catalog, type EntryOwner } from './catalog.ts'
import { type DecodedParts, decodeItem, decodeParts, ItemWriter } from './codec.ts'
import type { KeyWork } from './item-keys/item-keys.ts'
import { requireKey } from './item-keys/encrypted-value.ts'
import { CountChanges } from './counts.ts'
import {
  hasEntry,
  namesForEntries,
  projectedSize,
  sameEntry,
  writeEntryKey,
  writeEntryPrefix,
} from './indexes.ts'
import { writeItemKey } from './keys.ts'
import { KeySource, type EncodedValue, type Environment } from './lmdb/lmdb.ts'
import type { TableRecord, TokenRecord, WriteTx } from './storage.ts'
import { tokenExpiryKey, tokenKey } from './tokens.ts'

const PUT_ITEM = 0
const REMOVE_ITEM = 1
const PUT_ENTRY = 2
const REMOVE_ENTRY = 3
const PUT_CHANGE = 4
const REMOVE_CHANGE = 5

const REMOVALS = { items: REMOVE_ITEM, entries: REMOVE_ENTRY, changes: REMOVE_CHANGE }

interface Operation {
  kind: number
  keyStart: number
  keyEnd: number
  valueStart: number
  valueEnd: number
  /** Whether the value is stored encrypted, or the one that it replaces may be. */
  encrypted: boolean
}

/** A part of the writer's buffer. */
interface Span {
  start: number
  end: number
}

interface Read extends Span {
  item: Item
  /** Undefined if the whole item was decoded. */
  parts: DecodedParts | undefined
}

interface Replacement {
  old: Item | undefined
  oldSize: number
  item: Item
  size: number
}

type MetaKey = string | (string | number)[]

const KEY_ROOM = 8192
const NO_ITEM: Item = {}
const NO_CHANGE: Position = { sequence: 0, at: 0 }

export class Transaction implements WriteTx {
  readonly env: Environment
  readonly catalog: Catalog
  readonly counts: CountChanges
  readonly #clock: Clock
  readonly #writer = new ItemWriter()
  readonly #source = new KeySource()
  #operations: Operation[] = []
  #meta: { key: MetaKey; value: unknown }[] = []
  /** The items that this `run` has read. */
  #reads: Read[] = []
  /** The position of the last change that this `run` logged. */
  #position: Position | undefined
  /** The position of the last change before this `run`, read on first use. */
  #last: Position | undefined
  #hasLogged = false

  constructor(env: Environment, catalog: Catalog, clock: Clock) {
    this.env = env
    this.catalog = catalog
    this.counts = new CountChanges(env)
    this.#clock = clock
  }

  /** Bytes of keys and values that this `run` writes. */
  get size(): number {
    return this.#writer.position
  }

  /** Other processes may have logged changes since the last commit. */
  beginCommit(): void {
    this.#last = undefined
    this.#hasLogged = false
    this.counts.beginCommit()
    this.env.keys.beginCommit()
  }

  /**
   * The position and the counts are written once for all changes of a commit. Returns what is left to do
   * with keys after it.
   */
  endCommit(): KeyWork | undefined {
    if (this.#hasLogged) void this.env.meta.put(SEQUENCE_KEY, this.#last)
    this.counts.endCommit()
    return this.env.keys.endCommit()
  }

  begin(): void {
    this.#writer.reset()
    this.counts.begin()
    if (this.#operations.length > 0) this.#operations = []
    if (this.#meta.length > 0) this.#meta = []
    if (this.#reads.length > 0) this.#reads = []
    this.#position = undefined
  }

  get(table: TableRecord, key: Item, only?: readonly string[]): Item | undefined {
    const current = this.current(table)
    const read = this.#stored(table, key)
    if (read === undefined) return undefined
    const { bytes } = this.#writer
    if (only === undefined) read.item = decodeItem(bytes, read.start, read.end)
    else {
      read.parts = decodeParts(bytes, namesForEntries(current), only, read.start, read.end)
      read.item = read.parts.item
    }
    this.#reads.push(read)
    return read.item
  }

  omittedSize(item: Item): number {
    return this.#readOf(item)?.parts?.skippedSize ?? 0
  }

  put(table: TableRecord, item: Item, old: Item | undefined): void {
    const current = this.current(table)
    const operation = this.#itemOperation(PUT_ITEM, table, item)
    operation.valueStart = this.#writer.position
    this.#writer.item(item)
    operation.valueEnd = this.#writer.position
    operation.encrypted = current.encrypted === true
    const size = this.#writer.itemSize
    const oldSize = old === undefined ? 0 : this.#sizeOf(old)
    if (current.logs !== undefined && !(size === oldSize && this.#isEqual(old, item))) {
      this.#log(current, old, { item, start: operation.valueStart, end: operation.valueEnd })
    }
    this.#count(current, operation, { old, oldSize, item, size })
  }

  update(table: TableRecord, item: Item, old: Item): void {
    const read = this.#readOf(old)
    if (read?.parts === undefined) return this.put(table, item, old)
    const current = this.current(table)
    const operation = this.#itemOperation(PUT_ITEM, table, item)
    operation.valueStart = this.#writer.position
    const grown = this.#writer.changed(read.parts, read.start, item)
    operation.valueEnd = this.#writer.position
    operation.encrypted = current.encrypted === true
    if (current.logs !== undefined && !(grown === 0 && equal(old, item))) {
      this.#log(current, old, { item, start: operation.valueStart, end: operation.valueEnd })
    }
    const oldSize = this.#sizeOf(old)
    this.#count(current, operation, { old, oldSize, item, size: oldSize + grown })
  }

  overwrite(table: TableRecord, item: Item): void {
    this.put(table, item, this.get(table, item, []))
  }

  delete(table: TableRecord, old: Item, expired?: 'expired'): void {
    const current = this.current(table)
    const operation = this.#itemOperation(REMOVE_ITEM, table, old)
    operation.encrypted = current.encrypted === true
    const size = this.#sizeOf(old)
    this.counts.add(table.id, -1, -size)
    if (current.logs !== undefined) this.#log(current, old, undefined, expired)
    for (const owner of owners(current)) {
      if (!this.#hasStoredEntry(owner, old, operation)) continue
      if ('keys' in owner) this.counts.add(owner.id, -1, -projectedSize(current, owner, old, size))
      this.#entryOperation(REMOVE_ENTRY, owner, old, operation)
    }
  }

  /** Updates the counts and the entries of an item that was put. */
  #count(
    table: TableRecord,
    operation: Operation,
    { old, oldSize, item, size }: Replacement,
  ): void {
    this.counts.add(table.id, old === undefined ? 1 : 0, size - oldSize)
    if (table.indexes.length === 0 && table.ttl === undefined) return
    for (const owner of owners(table)) {
      const had = old !== undefined && this.#hasStoredEntry(owner, old, operation)
      const has = hasEntry(owner, item)
      if (!had && !has) continue
      if ('keys' in owner) {
        const before = had ? projectedSize(table, owner, old, oldSize) : 0
        const after = has ? projectedSize(table, owner, item, size) : 0
        this.counts.add(owner.id, Number(has) - Number(had), after - before)
      }
      if (had && has && sameEntry(owner, old, item)) continue
      if (had) this.#entryOperation(REMOVE_ENTRY, owner, old, operation)
      if (has) this.#entryOperation(PUT_ENTRY, owner, item, operation)
    }
  }

  /** Finds the bytes of an item and brings them into the writer's buffer. */
  #stored(table: TableRecord, key: Item): Read | undefined {
    if (this.#operations.length > 0) {
      const pending = this.#pending(table, key)
      if (pending?.kind === REMOVE_ITEM) return undefined
      if (pending !== undefined) {
        const { valueStart: start, valueEnd: end } = pending
        return { item: NO_ITEM, start, end, parts: undefined }
      }
    }
    const stored = this.env.stored.get(this.#source.ofItem(table.id, table.keys, key))
    if (stored === undefined) return undefined
    const start = this.#writer.append(requireKey(stored))
    return { item: NO_ITEM, start, end: this.#writer.position, parts: undefined }
  }

  /** The last read is the most likely one. */
  #readOf(item: Item): Read | undefined {
    for (let i = this.#reads.length - 1; i >= 0; i--) {
      const read = this.#reads[i]!
      if (read.item === item) return read
    }
    return undefined
  }

  #sizeOf(item: Item): number {
    return itemSize(item) + this.omittedSize(item)
  }

  #isEqual(old: Item | undefined, item: Item): boolean {
    if (old === undefined) return false
    const read = this.#readOf(old)
    if (read?.parts === undefined) return equal(old, item)
    return equal(decodeItem(this.#writer.bytes, read.start, read.end), item)
  }

  token(token: string): TokenRecord | undefined {
    const record = this.env.meta.get(tokenKey(token)) as TokenRecord | undefined
    return record !== undefined && record.expiresAt > this.#clock.now() ? record : undefined
  }

  rememberToken(token: string, hash: string, expiresAt: number): void {
    const record: TokenRecord = { hash, expiresAt }
    this.putMeta(tokenKey(token), record)
    this.putMeta(tokenExpiryKey(expiresAt, token), true)
  }

  /** The table as this transaction sees it: another process may have changed or dropped it. */
  current(table: TableRecord): TableRecord {
    const current = this.catalog.byId(table.id)
    if (current === undefined) throw resourceNotFound()
    return current
  }

  /** Adds the entry of a stored item to a new index, unless a write has added it. */
  fill(table: TableRecord, owner: EntryOwner, item: Item): void {
    if (!hasEntry(owner, item)) return
    const keyStart = this.#room()
    const keyEnd = writeItemKey(table.id, table.keys, item, this.#writer.bytes, keyStart)
    this.#writer.position = keyEnd
    if ('keys' in owner) {
      if (this.#hasStoredEntry(owner, item, { keyStart, keyEnd })) return
      this.counts.add(owner.id, 1, projectedSize(table, owner, item, itemSize(item)))
    }
    this.#entryOperation(PUT_ENTRY, owner, item, { keyStart, keyEnd })
  }

  removeKey(space: 'items' | 'entries' | 'changes', key: Uint8Array): void {
    const keyStart = this.#room()
    this.#writer.bytes.set(key, keyStart)
    this.#writer.position = keyStart + key.length
    const operation = this.#add(REMOVALS[space], keyStart, this.#writer.position)
    // The table may not exist any more.
    operation.encrypted = space !== 'entries' && this.env.keys.isInUse()
  }

  /** Takes over the slots of killed processes. */
  adoptSlots(): void {
    this.env.keys.adopt()
  }

  /** Encrypts an item that was stored before its table had the option. */
  encryptItem(key: Uint8Array, value: Uint8Array): void {
    this.#writer.reserve(key.length + value.length)
    const keyStart = this.#writer.position
    this.#writer.bytes.set(key, keyStart)
    const keyEnd = keyStart + key.length
    // The bytes of a read are the beginning of a longer buffer.
    this.#writer.bytes.set(value.subarray(0, value.length), keyEnd)
    this.#writer.position = keyEnd + value.length
    const operation = this.#add(PUT_ITEM, keyStart, keyEnd)
    operation.valueStart = keyEnd
    operation.valueEnd = this.#writer.position
    operation.encrypted = true
  }

  /** `undefined` removes. */
  putMeta(key: MetaKey, value: unknown): void {
    this.#meta.push({ key, value })
  }

  /** Makes every process read the catalog again. */
  raiseVersion(): void {
    this.putMeta(VERSION_KEY, this.catalog.storedVersion() + 1)
  }

  /** Throws only if LMDB fails; the caller then rolls the whole commit back. */
  apply(): void {
    const { items, entries, changes, meta } = this.env
    const bytes = this.#writer.bytes as EncodedValue
    const source = this.#source
    for (const operation of this.#operations) {
      source.ofBytes(bytes, operation.keyStart, operation.keyEnd)
      bytes.start = operation.valueStart
      bytes.end = operation.valueEnd
      if (operation.encrypted) this.#applyEncrypted(operation)
      else if (operation.kind === PUT_ITEM) items.put(source, bytes)
      else if (operation.kind === PUT_ENTRY) entries.put(source, bytes)
      else if (operation.kind === REMOVE_ITEM) items.remove(source)
      else if (operation.kind === REMOVE_ENTRY) entries.remove(source)
      else if (operation.kind === PUT_CHANGE) changes.put(source, bytes)
      else changes.remove(source)
    }
    this.counts.apply()
    if (this.#position !== undefined) {
      this.#last = this.#position
      this.#hasLogged = true
    }
    for (const { key, value } of this.#meta) {
      if (value === undefined) void meta.remove(key)
      else void meta.put(key, value)
      if (key === VERSION_KEY) this.catalog.invalidate()
    }
    // A later `run` of this commit must see the catalog that this one wrote.
    if (this.#meta.length > 0) this.catalog.refresh()
  }

  /** Every value has a key of its own, and the key of what it replaces is overwritten after the commit. */
  #applyEncrypted({ kind, valueStart, valueEnd }: Operation): void {
    const { raw, keys, items, changes } = this.env
    const space = kind === PUT_CHANGE || kind === REMOVE_CHANGE ? 'changes' : 'items'
    const table = space === 'items' ? items : changes
    const source = this.#source
    if (kind !== PUT_CHANGE) keys.retire(raw[space].get(source))
    if (kind === REMOVE_ITEM || kind === REMOVE_CHANGE) table.remove(source)
    else table.put(source, keys.encrypt(this.#writer.bytes.subarray(valueStart, valueEnd)))
  }

  /** The position of the last change that any process logged. */
  position(): Position {
    if (this.#position !== undefined) return this.#position
    this.#last ??= (this.env.meta.get(SEQUENCE_KEY) as Position | undefined) ?? NO_CHANGE
    return this.#last
  }

  /** For tables with logs. A write that leaves the item as it was is not a change. */
  #log(
    table: TableRecord,
    old: Item | undefined,
    written: (Span & { item: Item }) | undefined,
    expired?: 'expired',
  ): void {
    const { sequence, at } = this.position()
    const next = { sequence: sequence + 1, at: Math.max(at, this.#clock.now()) }
    const change = changeOf(table.keys, next.at, old, written?.item, expired)
    const before = old && this.#spanOf(old)
    this.#position = next
    for (const { id, view } of table.logs ?? []) {
      const keyStart = this.#room()
      const keyEnd = writeChangeKey(id, next.sequence, this.#writer.bytes, keyStart)
      this.#writer.position = keyEnd
      const operation = this.#add(PUT_CHANGE, keyStart, keyEnd)
      operation.valueStart = keyEnd
      this.#writer.itemWith(change, imagesOf(view, before, written))
      operation.valueEnd = this.#writer.position
      operation.encrypted = table.encrypted === true
    }
  }

  /** Where an item is encoded in the writer's buffer; items that `get` did not return are added to it. */
  #spanOf(item: Item): Span {
    const read = this.#readOf(item)
    if (read !== undefined) return read
    const start = this.#writer.position
    this.#writer.item(item)
    return { start, end: this.#writer.position }
  }

  #room(): number {
    this.#writer.reserve(KEY_ROOM)
    return this.#writer.position
  }

  #itemOperation(kind: number, table: TableRecord, item: Item): Operation {
    const keyStart = this.#room()
    const keyEnd = writeItemKey(table.id, table.keys, item, this.#writer.bytes, keyStart)
    this.#writer.position = keyEnd
    return this.#add(kind, keyStart, keyEnd)
  }

  /** An index that is being filled may not have the entry of a stored item yet. */
  #hasStoredEntry(
    owner: EntryOwner,
    item: Item,
    itemKey: { keyStart: number; keyEnd: number },
  ): boolean {
    if (!hasEntry(owner, item)) return false
    if (!('status' in owner) || owner.status === 'ACTIVE') return true
    const start = this.#room()
    const bytes = this.#writer.bytes
    const key = { bytes, start: itemKey.keyStart, end: itemKey.keyEnd }
    const { end } = writeEntryKey(owner, item, key, bytes, start)
    const pending = this.#pendingAt(start, end, PUT_ENTRY)
    if (pending !== undefined) return pending.kind === PUT_ENTRY
    return this.env.entries.get(this.#source.ofBytes(bytes, start, end)) !== undefined
  }

  #entryOperation(
    kind: number,
    owner: EntryOwner,
    item: Item,
    itemKey: { keyStart: number; keyEnd: number },
  ): void {
    const start = this.#room()
    const bytes = this.#writer.bytes
    const prefixEnd = writeEntryPrefix(owner, item, bytes, start)
    bytes.copyWithin(prefixEnd, itemKey.keyStart, itemKey.keyEnd)
    const end = prefixEnd + itemKey.keyEnd - itemKey.keyStart
    const offset = prefixEnd - start
    bytes[end] = offset >>> 8
    bytes[end + 1] = offset
    this.#writer.position = end + 2
    const operation = this.#add(kind, start, end)
    operation.valueStart = end
    operation.valueEnd = end + 2
  }

  #add(kind: number, keyStart: number, keyEnd: number): Operation {
    const operation = { kind, keyStart, keyEnd, valueStart: 0, valueEnd: 0, encrypted: false }
    this.#operations.push(operation)
    return operation
  }

  #pending(table: TableRecord, key: Item): Operation | undefined {
    const start = this.#room()
    const bytes = this.#writer.bytes
    const end = writeItemKey(table.id, table.keys, key, bytes, start)
    return this.#pendingAt(start, end, PUT_ITEM)
  }

  /** The last operation of this `run` on a key: a put of that kind, or its removal. */
  #pendingAt(start: number, end: number, put: number): Operation | undefined {
    const bytes = this.#writer.bytes
    for (let i = this.#operations.length - 1; i >= 0; i--) {
      const operation = this.#operations[i]!
      if (operation.kind !== put && operation.kind !== put + 1) continue
      const { keyStart, keyEnd } = operation
      if (bytes.compare(bytes, keyStart, keyEnd, start, end) === 0) return operation
    }
    return undefined
  }
}
