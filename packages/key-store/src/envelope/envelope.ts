/**
 * Seals small secrets, each for one place: an attribute of an entity of a tenant of a service.
 *
 * Every tenant has a branch key, made when its first secret is sealed. What is sealed is a message of
 * the AWS Encryption SDK, so AWS's own libraries open it too. Rotating a branch key changes nothing
 * that is sealed: each message names the version it opens with.
 */
import { type EnvelopeContext, placeOf } from './place.ts'
import { branchKeyVersionOf } from './edk.ts'
import type { KeyStore } from '../store/key-store.ts'
import type { BranchKeyMaterials, BranchKeySource } from '../store/materials.ts'
import { readHeader } from './header.ts'
import { openMessage, writeMessage } from './message.ts'
import { isKeyStoreFailure, keyStoreFailure } from '../errors.ts'

export interface Envelope {
  seal(plaintext: Uint8Array, context: EnvelopeContext): Promise<Uint8Array>
  /** Throws `EnvelopeUnreadable` for anything but what was sealed for this very place. */
  open(sealed: Uint8Array, context: EnvelopeContext): Promise<Uint8Array>
}

export interface EnvelopeOptions {
  /** Makes the branch keys of new tenants. */
  keyStore: Pick<KeyStore, 'createKey'>
  /** Reads branch keys: a cache, or else everything that is sealed or opened is a call to KMS. */
  branchKeys: BranchKeySource
}

/** Encryption is synchronous: larger plaintexts would block the event loop for too long. */
const MAX_PLAINTEXT_BYTES = 16 * 1024 * 1024

/**
 * Once before the key is created and once after; and once more, because a cache may return the result
 * of a read that another caller started before the key existed.
 */
const MAX_READS_OF_NEW_KEY = 3

export function createEnvelope({ keyStore, branchKeys }: EnvelopeOptions): Envelope {
  const creating = new Map<string, Promise<void>>()

  return {
    async seal(plaintext, context) {
      if (!(plaintext instanceof Uint8Array)) throw new TypeError('Cannot seal: give bytes')
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

  /** Concurrent callers create it once: in this process they wait for the first, in others the store rejects the second. */
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
