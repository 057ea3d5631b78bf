/**
 * Seals small secrets, each for one place: an attribute of an entity of a tenant of a service.
 *
 * Every tenant has a branch key, created with its first secret. A sealed secret is a message of the AWS
 * Encryption SDK, so AWS's libraries can open it, too. Rotating a branch key does not affect existing
 * messages: each contains the version of its branch key.
 */
import { type EnvelopeContext, placeOf } from './place.ts'
import { branchKeyVersionOf } from './edk.ts'
import type { KeyStore } from '../store/key-store.ts'
import type { BranchKeyMaterials, BranchKeySource } from '../store/key-store.ts'
import { readHeader } from './header.ts'
import { openMessage, writeMessage } from './message.ts'
import { isKeyStoreFailure, keyStoreFailure } from '../errors.ts'

export interface Envelope {
  seal(plaintext: Uint8Array, context: EnvelopeContext): Promise<Uint8Array>
  /** Throws `EnvelopeUnreadable` unless the bytes were sealed for this place. */
  open(sealed: Uint8Array, context: EnvelopeContext): Promise<Uint8Array>
}

export interface EnvelopeOptions {
  /** Creates the branch keys of new tenants. */
  keyStore: Pick<KeyStore, 'createKey'>
  /** Reads branch keys. Use a cache, otherwise every seal and open calls KMS. */
  branchKeys: BranchKeySource
}

/** Encryption is synchronous: larger plaintexts would block the event loop for too long. */
const MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024

/**
 * One read before the key is created, one after, and one more because a cache may return the result of a
 * read that another caller started before the key existed.
 */
const MAX_READS_OF_NEW_KEY = 3

export function createEnvelope({ keyStore, branchKeys }: EnvelopeOptions): Envelope {
  const creating = new Map<string, Promise<void>>()

  return {
    async seal(plaintext, context) {
      if (!(plaintext instanceof Uint8Array)) throw new TypeError('Cannot seal: pass bytes')
      if (plaintext.length > MAX_PLAINTEXT_BYTES) throw keyStoreFailure('PlaintextTooLong')
      const place = placeOf(context)
      const materials = await activeBranchKey(place.branchKeyIdentifier, context)
      try {
        return writeMessage(plaintext, place, materials)
      } finally {
        materials.branchKey.fill(0)
      }
    },

    async open(sealed, context) {
      const place = placeOf(context)
      if (!(sealed instanceof Uint8Array)) throw keyStoreFailure('EnvelopeUnreadable')
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.length)
      const header = readHeader(place, bytes)
      const { branchKey } = await branchKeyVersion(
        place.branchKeyIdentifier,
        branchKeyVersionOf(header.edk),
      )
      try {
        return openMessage(header, place, branchKey)
      } finally {
        branchKey.fill(0)
      }
    },
  }

  async function activeBranchKey(
    branchKeyIdentifier: string,
    context: EnvelopeContext,
  ): Promise<BranchKeyMaterials> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await branchKeys.getActiveBranchKey({ branchKeyIdentifier })
      } catch (error) {
        if (!isKeyStoreFailure(error, 'BranchKeyNotFound') || attempt === MAX_READS_OF_NEW_KEY)
          throw error
        await createOnce(branchKeyIdentifier, context)
      }
    }
  }

  /** Concurrent callers in this process share one creation; the store rejects that of other processes. */
  async function createOnce(branchKeyIdentifier: string, { service, tenant }: EnvelopeContext) {
    let pending = creating.get(branchKeyIdentifier)
    if (!pending) {
      pending = create(branchKeyIdentifier, { service, tenant }).finally(() =>
        creating.delete(branchKeyIdentifier),
      )
      creating.set(branchKeyIdentifier, pending)
    }
    await pending
  }

  async function create(branchKeyIdentifier: string, encryptionContext: Record<string, string>) {
    try {
      await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    } catch (error) {
      if (!isKeyStoreFailure(error, 'BranchKeyExists')) throw error
    }
  }

  async function branchKeyVersion(branchKeyIdentifier: string, version: string) {
    try {
      return await branchKeys.getBranchKeyVersion({
        branchKeyIdentifier,
        branchKeyVersion: version,
      })
    } catch (error) {
      // The version comes from the message, which is not authenticated yet.
      if (isKeyStoreFailure(error, 'BranchKeyNotFound'))
        throw keyStoreFailure('EnvelopeUnreadable', { cause: error })
      throw error
    }
  }
}
