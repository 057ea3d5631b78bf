/**
 * A data key wrapped by a branch key, as AWS's hierarchical keyring does it:
 *
 *   salt 16 ‖ IV 12 ‖ version of the branch key 16 ‖ encrypted data key 32 ‖ tag 16
 *
 * AES-256-GCM under a key derived from the branch key and the salt (NIST SP 800-108, counter mode,
 * HMAC-SHA-256, one block). Random IVs are safe, because every wrapping has its own key.
 */
import { createCipheriv, createDecipheriv, createHmac } from 'node:crypto'
import type { Place } from './place.ts'
import type { BranchKeyMaterials } from '../store/key-store.ts'
import { keyStoreFailure } from '../errors.ts'

export const PROVIDER_ID = 'aws-kms-hierarchy'
export const EDK_BYTES = 92
/** The random bytes: salt and IV. */
export const EDK_NONCE_BYTES = 28

const SALT_END = 16
const IV_END = EDK_NONCE_BYTES
const VERSION_END = 44
const KEY_END = 76

const PROVIDER = Buffer.from(PROVIDER_ID)
const KDF_BEFORE_SALT = Buffer.concat([Buffer.of(0, 0, 0, 1), PROVIDER, Buffer.of(0)])
/** The length of the derived key in bits. */
const KDF_AFTER_SALT = Buffer.of(0, 0, 1, 0)
const GCM = { authTagLength: 16 }

export function wrapDataKey(
  dataKey: Uint8Array,
  { branchKey, branchKeyVersion }: Pick<BranchKeyMaterials, 'branchKey' | 'branchKeyVersion'>,
  place: Place,
  nonce: Buffer,
): Buffer {
  const version = Buffer.from(branchKeyVersion.replaceAll('-', ''), 'hex')
  if (version.length !== VERSION_END - IV_END)
    throw new TypeError('Cannot wrap a data key: the version of the branch key is not a UUID')
  const key = derivedKey(branchKey, nonce.subarray(0, SALT_END))
  const cipher = createCipheriv('aes-256-gcm', key, nonce.subarray(SALT_END), GCM)
  cipher.setAAD(additionalData(place, version))
  const encrypted = cipher.update(dataKey)
  cipher.final()
  key.fill(0)
  return Buffer.concat([nonce, version, encrypted, cipher.getAuthTag()], EDK_BYTES)
}

/** The version of the branch key that unwraps it. */
export function branchKeyVersionOf(edk: Buffer): string {
  const hex = edk.toString('hex', IV_END, VERSION_END)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

export function unwrapDataKey(edk: Buffer, branchKey: Uint8Array, place: Place): Buffer {
  const key = derivedKey(branchKey, edk.subarray(0, SALT_END))
  const decipher = createDecipheriv('aes-256-gcm', key, edk.subarray(SALT_END, IV_END), GCM)
  key.fill(0)
  decipher.setAAD(additionalData(place, edk.subarray(IV_END, VERSION_END)))
  decipher.setAuthTag(edk.subarray(KEY_END))
  const dataKey = decipher.update(edk.subarray(VERSION_END, KEY_END))
  try {
    decipher.final()
  } catch {
    throw keyStoreFailure('EnvelopeUnreadable')
  }
  return dataKey
}

function derivedKey(branchKey: Uint8Array, salt: Buffer): Buffer {
  const hmac = createHmac('sha256', branchKey).update(KDF_BEFORE_SALT)
  return hmac.update(salt).update(KDF_AFTER_SALT).digest()
}

function additionalData({ branchKeyIdentifier, context }: Place, version: Buffer): Buffer {
  return Buffer.concat([PROVIDER, Buffer.from(branchKeyIdentifier), version, context])
}
