import type { KeyStorage } from './key-storage.ts'
import { WrongMasterKey } from './master-key-errors.ts'

/** Throws if the store has a key that this master key cannot open. */
export async function requireMasterKey(storage: KeyStorage, check: Uint8Array): Promise<void> {
  const foreign = (await storage.list()).filter(
    ({ masterKeyCheck }) => Buffer.compare(masterKeyCheck, check) !== 0,
  )
  if (foreign.length > 0) {
    throw new WrongMasterKey(
      `The KMS keys in this store belong to another master key (${foreign.length} of them): start with the master key that they are wrapped by, or restore it from a backup`,
    )
  }
}
