/** Branch keys of a test that is about messages, not about where keys come from. */
import { randomBytes, randomUUID } from 'node:crypto'
import type { KeyStore } from '../../src/store/key-store.ts'
import type { BranchKeyMaterials, BranchKeySource } from '../../src/store/key-store.ts'
import { keyStoreFailure } from '../../src/errors.ts'

export function branchKeysInMemory() {
  const active = new Map<string, BranchKeyMaterials>()
  const versions = new Map<string, BranchKeyMaterials>()
  /** Everything that was asked for. */
  const reads: string[] = []

  const copy = (found: BranchKeyMaterials | undefined): BranchKeyMaterials => {
    if (!found) throw keyStoreFailure('BranchKeyNotFound')
    return { ...found, branchKey: Uint8Array.from(found.branchKey) }
  }
  const branchKeys: BranchKeySource = {
    async getActiveBranchKey({ branchKeyIdentifier }) {
      reads.push(branchKeyIdentifier)
      return copy(active.get(branchKeyIdentifier))
    },
    async getBranchKeyVersion({ branchKeyIdentifier, branchKeyVersion }) {
      reads.push(branchKeyIdentifier)
      return copy(versions.get(`${branchKeyIdentifier} ${branchKeyVersion}`))
    },
  }
  const keyStore: Pick<KeyStore, 'createKey'> = {
    async createKey({ branchKeyIdentifier = randomUUID(), encryptionContext = {} } = {}) {
      const branchKeyVersion = randomUUID()
      const branchKey = new Uint8Array(randomBytes(32))
      const key = { branchKeyIdentifier, branchKeyVersion, branchKey, encryptionContext }
      active.set(branchKeyIdentifier, key)
      versions.set(`${branchKeyIdentifier} ${branchKeyVersion}`, key)
      return { branchKeyIdentifier }
    },
  }
  return { branchKeys, keyStore, reads }
}
