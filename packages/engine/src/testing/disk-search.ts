/**
 * What someone finds who has all files of a data directory: the bytes themselves, and every encrypted
 * value that any key in the slot file decrypts. It knows where values may begin, not which are in use.
 */
import { createDecipheriv } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CODEC_VERSION } from '../storage/codec.ts'
import { ENCRYPTED_VERSION } from '../storage/item-keys/encrypted-value.ts'
import { KEY_BYTES, SLOT_FILE } from '../storage/item-keys/slot-file.ts'

const NONCE_AT = 5
const NONCE_BYTES = 12
const CIPHERTEXT_AT = 33
/** More than the largest item of a test. */
const MAX_VALUE_BYTES = 128 * 1024

export interface DiskSearch {
  /** Places where one of the wanted values is, readable or decrypted. */
  found: string[]
  /** How many different values a key of the slot file decrypts. */
  decrypted: number
  /** How many different bytes look like an encrypted value. */
  candidates: number
}

export function searchDisk(
  directory: string,
  wanted: readonly (string | Uint8Array)[],
): DiskSearch {
  const values = wanted.map((value) => Buffer.from(value as Uint8Array))
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => ({ name: entry.name, bytes: readFileSync(join(entry.parentPath, entry.name)) }))
  const slots = files.find(({ name }) => name === SLOT_FILE)?.bytes ?? Buffer.alloc(0)
  const seen = new Set<string>()
  const search: DiskSearch = { found: [], decrypted: 0, candidates: 0 }
  for (const { name, bytes } of files) {
    if (values.some((value) => bytes.includes(value))) search.found.push(`${name}, readable`)
    for (const at of name === SLOT_FILE ? [] : valuesIn(bytes, slots.length / KEY_BYTES)) {
      // LMDB copies pages, so the same bytes are in several places.
      const head = bytes.toString('latin1', at, at + CIPHERTEXT_AT)
      if (seen.has(head)) continue
      seen.add(head)
      search.candidates++
      const plain = decrypt(bytes.subarray(at, at + MAX_VALUE_BYTES), slots)
      if (plain === undefined) continue
      search.decrypted++
      if (values.some((value) => plain.includes(value))) search.found.push(`${name} at ${at}`)
    }
  }
  return search
}

/** Where a value may begin: its version, and the number of a slot that the file has. */
function* valuesIn(bytes: Buffer, slots: number): Iterable<number> {
  const last = bytes.length - CIPHERTEXT_AT
  for (let at = bytes.indexOf(ENCRYPTED_VERSION); at >= 0 && at < last;) {
    if (bytes.readUInt32BE(at + 1) < slots) yield at
    at = bytes.indexOf(ENCRYPTED_VERSION, at + 1)
  }
}

/** Tries every key. Without the tag, whose place is known but whose length of data is not. */
function decrypt(value: Buffer, slots: Buffer): Buffer | undefined {
  for (let at = 0; at + KEY_BYTES <= slots.length; at += KEY_BYTES) {
    const key = slots.subarray(at, at + KEY_BYTES)
    const start = apply(key, value, 8)
    // An item begins with its version and the number of its attributes.
    if (start.readUInt32BE(0) !== CODEC_VERSION << 24 || start[4]! > 100) continue
    return apply(key, value, MAX_VALUE_BYTES)
  }
  return undefined
}

/** The counter mode of AES-GCM, whose first block of data has the counter 2. */
function apply(key: Buffer, value: Buffer, length: number): Buffer {
  const counter = Buffer.concat([
    value.subarray(NONCE_AT, NONCE_AT + NONCE_BYTES),
    Buffer.of(0, 0, 0, 2),
  ])
  const cipher = createDecipheriv('aes-256-ctr', key, counter)
  return cipher.update(value.subarray(CIPHERTEXT_AT, CIPHERTEXT_AT + length))
}
