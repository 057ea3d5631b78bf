// Keys of encrypted values: each is in a slot of the slot file and encrypts one value. LMDB has the state
// of every slot, so it changes together with the values:
//
//   ['slot', 'next']              the number of slots in the file
//   ['slot', 'free', first]       slots that anyone may take
//   ['slot', 'owner', id]         a process, and the slots that it has reserved
//   ['slot', 'erase', id, number] slots of values that a commit of this owner replaced or removed
//
// An owner writes random keys to its reserved slots and flushes them in advance, so a commit usually
// needs no flush of its own for new keys. After a commit the keys of replaced values are overwritten by
// such new keys and flushed, before the promises of the commit settle; the next commit then reserves
// their slots. What a killed process has not overwritten, the next one finds in LMDB and overwrites.

import { randomBytes, randomFillSync } from 'node:crypto'
import type * as lmdb from 'lmdb'
import type { EncodedValue } from '../lmdb/lmdb.ts'
import {
  decryptValue,
  ERASED,
  encryptValue,
  isEncrypted,
  slotOf,
  type Erased,
} from './encrypted-value.ts'
import { KEY_BYTES, SlotFile } from './slot-file.ts'

type Meta = lmdb.Database<unknown>

interface OwnerRecord {
  pid: number
  /** Grows with each commit; shows the owner whether its last one succeeded. */
  commit: number
  slots: number[]
}

interface PreparedKey {
  slot: number
  key: Uint8Array
}

/** What is left to do after a commit. */
export interface KeyWork {
  owner: string
  /** Number of the record with the slots to erase. */
  number: number
  erase: number[]
  prepare: number[]
}

const BLOCK_SLOTS = 64
/** As many keys are kept prepared as two busy commits need, up to this number. */
const MAX_WANTED = 512
const MAX_SLOTS = 2 ** 32
/** Bounds the work of one commit that takes over the slots of killed processes. */
const MAX_ADOPTED_RECORDS = 1000

const NEXT_KEY = ['slot', 'next']
const ALL_FREE = { start: ['slot', 'free'], end: ['slot', 'free!'] }
const ALL_OWNERS = { start: ['slot', 'owner'], end: ['slot', 'owner!'] }
export const ALL_SLOT_RECORDS = { start: ['slot'], end: ['slot!'] }

function ownerKey(owner: string): string[] {
  return ['slot', 'owner', owner]
}

function eraseKey(owner: string, number: number): (string | number)[] {
  return ['slot', 'erase', owner, number]
}

export class ItemKeys {
  readonly #meta: Meta
  readonly #file: SlotFile
  readonly #otherProcesses: () => number[]
  readonly #key = Buffer.alloc(KEY_BYTES)
  #owner = newOwner()
  #commit = 0
  #isInUse = false
  /** Written, flushed and reserved. */
  #prepared: PreparedKey[] = []
  /** Overwritten and flushed, but LMDB still lists them as slots to erase. */
  #erased: { number: number; keys: PreparedKey[] }[] = []
  /** The current commit uses keys. */
  #isUsed = false
  #isFlushNeeded = false
  #retired: number[] = []
  /** Keys that this commit has used so far. */
  #taken = 0

  constructor(meta: Meta, directory: string, otherProcesses: () => number[]) {
    this.#meta = meta
    this.#file = new SlotFile(directory)
    this.#otherProcesses = otherProcesses
  }

  /** False if values are encrypted but the file with their keys is not there. */
  isComplete(): boolean {
    return !this.isInUse() || this.#file.exists()
  }

  /** Whether the directory has ever had an encrypted value. */
  isInUse(): boolean {
    this.#isInUse ||= this.#meta.get(NEXT_KEY) !== undefined
    return this.#isInUse
  }

  /** Begins a write transaction; the last one failed if it has not ended. */
  beginCommit(): void {
    if (this.#isUsed) this.#beginAgain()
  }

  /** Returns a value that is not encrypted as it is. */
  open(stored: Uint8Array): Uint8Array | Erased {
    if (!isEncrypted(stored)) return stored
    if (!this.#file.read(slotOf(stored), this.#key)) return ERASED
    return decryptValue(stored, this.#key)
  }

  /** Inside a write transaction. The result is overwritten by the next call. */
  encrypt(plain: Uint8Array): EncodedValue {
    this.#use()
    if (this.#prepared.length === 0) this.#prepareNow()
    const { slot, key } = this.#prepared.pop()!
    this.#taken++
    return encryptValue(slot, key, plain)
  }

  /** Inside a write transaction that replaces or removes this value. */
  retire(stored: Uint8Array | undefined): void {
    if (stored === undefined || !isEncrypted(stored)) return
    this.#use()
    this.#retired.push(slotOf(stored))
  }

  /** Inside a write transaction. Takes over what killed processes have reserved and not yet erased. */
  adopt(): void {
    for (const owner of this.#abandonedOwners().slice(0, MAX_ADOPTED_RECORDS)) {
      this.#use()
      const { slots } = this.#meta.get(ownerKey(owner)) as OwnerRecord
      for (const slot of slots) this.#retired.push(slot)
      let left = MAX_ADOPTED_RECORDS
      const records = { start: eraseKey(owner, 0), end: eraseKey(owner, Number.MAX_SAFE_INTEGER) }
      for (const { key, value } of this.#meta.getRange({ ...records, limit: left })) {
        for (const slot of value as number[]) this.#retired.push(slot)
        void this.#meta.remove(key)
        left--
      }
      if (left > 0) void this.#meta.remove(ownerKey(owner))
      else void this.#meta.put(ownerKey(owner), { pid: 0, commit: 0, slots: [] })
    }
  }

  hasAbandoned(): boolean {
    return this.#abandonedOwners().length > 0
  }

  /** Ends a write transaction; everything that it needs is then on disk. */
  endCommit(): KeyWork | undefined {
    if (!this.#isUsed) return undefined
    if (this.#isFlushNeeded) this.#file.flushSync()
    this.#isFlushNeeded = false
    const owner = this.#owner
    const number = ++this.#commit
    const erase = this.#retired
    this.#retired = []
    if (erase.length > 0) void this.#meta.put(eraseKey(owner, number), erase)
    const wanted = Math.min(Math.max(BLOCK_SLOTS, 2 * this.#taken), MAX_WANTED)
    while (this.#prepared.length > 3 * wanted) {
      const free = this.#prepared.splice(-BLOCK_SLOTS).map(({ slot }) => slot)
      void this.#meta.put(['slot', 'free', free[0]!], free)
    }
    // The slots of erased keys come back.
    const isLow = this.#prepared.length + erase.length < wanted / 2
    const prepare = isLow ? this.#allocate(wanted) : []
    const slots = [...this.#prepared.map(({ slot }) => slot), ...prepare]
    const record: OwnerRecord = { pid: process.pid, commit: number, slots }
    void this.#meta.put(ownerKey(owner), record)
    this.#isUsed = false
    return { owner, number, erase, prepare }
  }

  /** After the commit: overwrites the keys of what it replaced, and prepares new ones. */
  async complete({ owner, number, erase, prepare }: KeyWork): Promise<void> {
    const slots = [...erase, ...prepare]
    if (slots.length === 0) return
    const keys = this.#write(slots)
    await this.#file.flush()
    // Whoever adopts the slots of the former owner overwrites them again.
    if (owner !== this.#owner) return
    if (erase.length > 0) this.#erased.push({ number, keys: keys.slice(0, erase.length) })
    this.#prepared.push(...keys.slice(erase.length))
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  /** Before the first key of a commit is used or retired. */
  #use(): void {
    if (this.#isUsed) return
    const stored = this.#meta.get(ownerKey(this.#owner)) as OwnerRecord | undefined
    if ((stored?.commit ?? 0) !== this.#commit) this.#beginAgain()
    this.#isUsed = true
    this.#taken = 0
    for (const { number, keys } of this.#erased) {
      void this.#meta.remove(eraseKey(this.#owner, number))
      this.#prepared.push(...keys)
    }
    this.#erased = []
  }

  /**
   * After a failed commit LMDB does not have what that commit reserved. This process goes on as a new
   * owner, and adopts what the former one has in LMDB.
   */
  #beginAgain(): void {
    this.#owner = newOwner()
    this.#commit = 0
    this.#prepared = []
    this.#erased = []
    this.#retired = []
    this.#isUsed = false
  }

  /** More keys are needed than were prepared, so this commit flushes them itself. */
  #prepareNow(): void {
    this.#prepared.push(...this.#write(this.#allocate(BLOCK_SLOTS)))
    this.#isFlushNeeded = true
  }

  #allocate(count: number): number[] {
    const slots: number[] = []
    for (;;) {
      const [first] = this.#meta.getKeys({ ...ALL_FREE, limit: 1 })
      if (first === undefined || slots.length >= count) break
      slots.push(...(this.#meta.get(first) as number[]))
      void this.#meta.remove(first)
    }
    const missing = count - slots.length
    if (missing <= 0) return slots
    const next = (this.#meta.get(NEXT_KEY) as number | undefined) ?? 0
    if (next + missing > MAX_SLOTS) throw new Error('The data directory has no slot left for a key')
    for (let i = 0; i < missing; i++) slots.push(next + i)
    void this.#meta.put(NEXT_KEY, next + missing)
    return slots
  }

  #write(slots: readonly number[]): PreparedKey[] {
    const keys = randomFillSync(Buffer.allocUnsafeSlow(slots.length * KEY_BYTES))
    this.#file.write(slots, keys)
    return slots.map((slot, at) => ({
      slot,
      key: keys.subarray(at * KEY_BYTES, (at + 1) * KEY_BYTES),
    }))
  }

  /** LMDB shows which processes have the directory open, so the id of a killed one may be in use again. */
  #abandonedOwners(): string[] {
    const others: { id: string; pid: number }[] = []
    for (const { key, value } of this.#meta.getRange(ALL_OWNERS)) {
      const [, , id] = key as [string, string, string]
      if (id !== this.#owner) others.push({ id, pid: (value as OwnerRecord).pid })
    }
    if (others.length === 0) return []
    const alive = new Set(this.#otherProcesses())
    return others.filter(({ pid }) => !alive.has(pid)).map(({ id }) => id)
  }
}

function newOwner(): string {
  return randomBytes(9).toString('base64url')
}
