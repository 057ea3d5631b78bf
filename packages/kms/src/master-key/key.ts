/**
 * The master key wraps the backing keys of every KMS key. It is used only through derived keys, one for
 * each purpose.
 */
import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { deriveKey } from '../kdf.ts'
import type { KeyStorage } from '../key-storage.ts'
import { MasterKeyError } from './errors.ts'

/** 32 random bytes. */
export type MasterKey = Uint8Array

export const MASTER_KEY_BYTES = 32

const FORMAT = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const NO_CONTEXT = new Uint8Array()

/**
 * Distinguishes master keys without revealing anything about them. Stored with every key, so that the
 * wrong master key is not mistaken for damage.
 */
export function keyCheck(masterKey: MasterKey): Uint8Array {
  return Uint8Array.from(deriveSubkey(masterKey, 'strongroom-kms check').subarray(0, 16))
}

/** Wraps and unwraps backing keys. A wrapped key opens only for the same key id and version. */
export interface Wrapping {
  readonly check: Uint8Array
  wrap(id: string, version: number, backingKey: Uint8Array): Uint8Array
  /** Undefined if the bytes were altered or belong to another key, version or master key. */
  unwrap(id: string, version: number, wrapped: Uint8Array): KeyObject | undefined
}

export function wrappingBy(masterKey: MasterKey): Wrapping {
  if (!(masterKey instanceof Uint8Array) || masterKey.length !== MASTER_KEY_BYTES) {
    throw new TypeError(`A master key is ${MASTER_KEY_BYTES} bytes`)
  }
  const key = createSecretKey(deriveSubkey(masterKey, 'strongroom-kms wrap'))

  return {
    check: keyCheck(masterKey),

    wrap(id, version, backingKey) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      cipher.setAAD(identity(id, version))
      const sealed = [cipher.update(backingKey), cipher.final()]
      return Uint8Array.from(Buffer.concat([Buffer.of(FORMAT), iv, ...sealed, cipher.getAuthTag()]))
    },

    unwrap(id, version, wrapped) {
      if (wrapped[0] !== FORMAT || wrapped.length !== 1 + IV_BYTES + MASTER_KEY_BYTES + TAG_BYTES) {
        return undefined
      }
      const iv = wrapped.subarray(1, 1 + IV_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
      decipher.setAAD(identity(id, version))
      decipher.setAuthTag(wrapped.subarray(-TAG_BYTES))
      const opened = decipher.update(wrapped.subarray(1 + IV_BYTES, -TAG_BYTES))
      try {
        decipher.final()
        return createSecretKey(opened)
      } catch {
        return undefined
      } finally {
        opened.fill(0)
      }
    },
  }
}

function deriveSubkey(masterKey: MasterKey, label: string): Buffer {
  return deriveKey(masterKey, label, NO_CONTEXT)
}

function identity(id: string, version: number): Buffer {
  return Buffer.from(`${FORMAT}/${id}/${version}`)
}

/** Throws if the store has a key that this master key cannot open. */
export async function requireMasterKey(storage: KeyStorage, check: Uint8Array): Promise<void> {
  const foreign = (await storage.list()).filter(
    ({ masterKeyCheck }) => Buffer.compare(masterKeyCheck, check) !== 0,
  )
  if (foreign.length > 0) {
    throw new MasterKeyError(
      'WrongMasterKey',
      `The KMS keys in this store belong to another master key (${foreign.length} of them): start with the master key that they are wrapped by, or restore it from a backup`,
    )
  }
}
