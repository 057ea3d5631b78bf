/**
 * Seals small secrets, each for one place: an attribute of an entity of a tenant of a service.
 *
 * Every tenant has a branch key, made when its first secret is sealed. What is sealed is a message of
 * the AWS Encryption SDK, so AWS's own libraries open it too. Rotating a branch key changes nothing
 * that is sealed: each message names the version it opens with.
 */
import { type EnvelopeContext, placeOf } from './envelope-context.ts'
import { EnvelopeUnreadable, PlaintextTooLong } from './envelope-errors.ts'
import { branchKeyVersionOf } from './hierarchy-edk.ts'
import type { KeyStore } from './key-store.ts'
import type { BranchKeyMaterials, BranchKeySource } from './materials.ts'
import { readHeader } from './message-format.ts'
import { openMessage, writeMessage } from './message.ts'
import { BranchKeyExists, BranchKeyNotFound } from './storage-errors.ts'

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

/** Encryption is synchronous: more at once would keep all others waiting. */
const MOST_PLAINTEXT_BYTES = 16 * 1024 * 1024

/**
 * Before the key is made and after; and once more, because a cache may have given the answer to a
 * question that somebody else had asked before the key was there.
 */
const READS_OF_A_NEW_KEY = 3

export function createEnvelope({ keyStore, branchKeys }: EnvelopeOptions): Envelope {
  const beingMade = new Map<string, Promise<void>>()

  return {
    async seal(plaintext, context) {
      if (!(plaintext instanceof Uint8Array)) throw new TypeError('Cannot seal: give bytes')
      if (plaintext.length > MOST_PLAINTEXT_BYTES) throw new PlaintextTooLong(MOST_PLAINTEXT_BYTES)
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
      if (!(sealed instanceof Uint8Array)) throw new EnvelopeUnreadable()
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
        if (!(error instanceof BranchKeyNotFound) || attempt === READS_OF_A_NEW_KEY) throw error
        await made(branchKeyIdentifier, context)
      }
    }
  }

  /** Once, however many ask: here by waiting for the first, elsewhere by the store's refusal. */
  async function made(branchKeyIdentifier: string, { service, tenant }: EnvelopeContext) {
    let making = beingMade.get(branchKeyIdentifier)
    if (!making) {
      making = make(branchKeyIdentifier, { service, tenant }).finally(() =>
        beingMade.delete(branchKeyIdentifier),
      )
      beingMade.set(branchKeyIdentifier, making)
    }
    await making
  }

  async function make(branchKeyIdentifier: string, encryptionContext: Record<string, string>) {
    try {
      await keyStore.createKey({ branchKeyIdentifier, encryptionContext })
    } catch (error) {
      if (!(error instanceof BranchKeyExists)) throw error
    }
  }

  async function branchKeyVersion(branchKeyIdentifier: string, version: string) {
    try {
      return await branchKeys.getBranchKeyVersion({
        branchKeyIdentifier,
        branchKeyVersion: version,
      })
    } catch (error) {
      // The version is the message's word, and the message is not authenticated without it.
      if (error instanceof BranchKeyNotFound) throw new EnvelopeUnreadable({ cause: error })
      throw error
    }
  }
}
