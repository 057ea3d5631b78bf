/**
 * The keys of one message, derived from its data key: HKDF (RFC 5869) with SHA-512, the message id
 * as salt. The commitment is public and ensures that a message opens under one data key only.
 *
 * Both keys are shorter than a hash, so one round of the expansion is enough. `hkdfSync` would extract
 * twice and takes more than twice as long.
 */
import { createHmac } from 'node:crypto'
import { SUITE } from './header.ts'

const KEY_BYTES = 32
const FIRST_ROUND = Buffer.of(1)
const COMMIT = Buffer.concat([Buffer.from('COMMITKEY'), FIRST_ROUND])
const DERIVE = Buffer.concat([SUITE, Buffer.from('DERIVEKEY'), FIRST_ROUND])

export interface MessageKeys {
  commitment: Buffer
  /** Encrypts the frames of this message and authenticates its header. */
  key: Buffer
}

export function messageKeys(dataKey: Uint8Array, messageId: Uint8Array): MessageKeys {
  const extracted = hmac(messageId, dataKey)
  const commitment = hmac(extracted, COMMIT).subarray(0, KEY_BYTES)
  const key = hmac(extracted, DERIVE).subarray(0, KEY_BYTES)
  extracted.fill(0)
  return { commitment, key }
}

function hmac(key: Uint8Array, data: Uint8Array): Buffer {
  return createHmac('sha512', key).update(data).digest()
}
