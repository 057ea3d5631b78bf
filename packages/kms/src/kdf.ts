/** The key derivation of NIST SP 800-108 in counter mode, with HMAC-SHA-256 and one block of output. */
import { createHmac, type KeyObject } from 'node:crypto'

const COUNTER = Buffer.from([0, 0, 0, 1])
const SEPARATOR = Buffer.from([0])
const BITS = Buffer.from([0, 0, 1, 0])

/** 32 bytes that depend on all three. */
export function deriveKey(key: KeyObject | Uint8Array, label: string, context: Uint8Array): Buffer {
  return createHmac('sha256', key)
    .update(COUNTER)
    .update(label)
    .update(SEPARATOR)
    .update(context)
    .update(BITS)
    .digest()
}
