// The stored form of a value that is encrypted with a key of its own:
//
//   version (1) | slot of the key (4) | nonce (12) | tag (16) | ciphertext
//
// A key encrypts one value only, so the tag also detects a slot that has been overwritten.

import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto'
import { corrupt } from '../codec.ts'
import { allocate } from '../lmdb/bytes.ts'
import type { EncodedValue } from '../lmdb/lmdb.ts'

/** Follows `CODEC_VERSION`, which begins a value that is not encrypted. */
export const ENCRYPTED_VERSION = 2

const ALGORITHM = 'aes-256-gcm'
const NONCE_AT = 5
const TAG_AT = 17
const NONCE_BYTES = TAG_AT - NONCE_AT
const HEADER_BYTES = 33

/** Instead of a value whose key has been overwritten. */
export const ERASED = Symbol('erased')
export type Erased = typeof ERASED

/** For reads of the newest state, in which every value has its key. */
export function requireKey<T>(value: T | Erased): T {
  if (value === ERASED) throw corrupt('its key is missing or does not fit')
  return value
}

export function isEncrypted(stored: Uint8Array): boolean {
  return stored[0] === ENCRYPTED_VERSION
}

export function slotOf(stored: Uint8Array): number {
  return ((stored[1]! << 24) | (stored[2]! << 16) | (stored[3]! << 8) | stored[4]!) >>> 0
}

let target = allocate(0x4000) as EncodedValue

/** The result is overwritten by the next call. */
export function encryptValue(slot: number, key: Uint8Array, plain: Uint8Array): EncodedValue {
  const size = HEADER_BYTES + plain.length
  if (target.length < size || target.length > 0x200000) {
    target = allocate(Math.max(0x4000, size)) as EncodedValue
  }
  target[0] = ENCRYPTED_VERSION
  target.writeUInt32BE(slot, 1)
  writeNonce(target)
  const cipher = createCipheriv(ALGORITHM, key, target.subarray(NONCE_AT, TAG_AT))
  target.set(cipher.update(plain), HEADER_BYTES)
  cipher.final()
  target.set(cipher.getAuthTag(), TAG_AT)
  target.start = 0
  target.end = size
  return target
}

/** Read ahead, because reading a few random bytes takes as long as reading many. Nonces are no secrets. */
const nonces = Buffer.alloc(256 * NONCE_BYTES)
let nextNonce = nonces.length

function writeNonce(value: Buffer): void {
  if (nextNonce === nonces.length) {
    randomFillSync(nonces)
    nextNonce = 0
  }
  nextNonce += nonces.copy(value, NONCE_AT, nextNonce, nextNonce + NONCE_BYTES)
}

export function decryptValue(stored: Uint8Array, key: Uint8Array): Uint8Array | Erased {
  const size = stored.length
  if (size < HEADER_BYTES) return ERASED
  const decipher = createDecipheriv(ALGORITHM, key, stored.subarray(NONCE_AT, TAG_AT), {
    authTagLength: HEADER_BYTES - TAG_AT,
  })
  decipher.setAuthTag(stored.subarray(TAG_AT, HEADER_BYTES))
  const plain = decipher.update(stored.subarray(HEADER_BYTES, size))
  try {
    decipher.final()
    return plain
  } catch {
    return ERASED
  }
}
