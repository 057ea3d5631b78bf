/** The branch key store (branch key store 0.7.0): makes, rotates and reads branch keys. */
import type { Clock } from '@strongroom/kit/clock'
import type { Kms } from '@strongroom/kit/kms'
import type { KmsConfiguration } from './kms-configuration.ts'
import type { BeaconKeyMaterials, BranchKeySource } from './materials.ts'
import type { KeyStorage } from './storage.ts'

export interface KeyStore extends BranchKeySource {
  /** Makes a branch key with its beacon key. An id of one's own needs encryption context. */
  createKey(input?: {
    branchKeyIdentifier?: string
    encryptionContext?: Record<string, string>
  }): Promise<{ branchKeyIdentifier: string }>
  /** Makes a new version the active one. Old versions stay readable. */
  versionKey(input: { branchKeyIdentifier: string }): Promise<{ branchKeyVersion: string }>
  getBeaconKey(input: { branchKeyIdentifier: string }): Promise<BeaconKeyMaterials>
  getKeyStoreInfo(): KeyStoreInfo
}

export interface KeyStoreInfo {
  keyStoreId: string
  /** The name of the table. */
  keyStoreName: string
  logicalKeyStoreName: string
  grantTokens: readonly string[]
  kmsConfiguration: KmsConfiguration
}

export interface KeyStoreOptions {
  storage: KeyStorage
  kms: Kms
  kmsConfiguration: KmsConfiguration
  /** Sent with every call to KMS. */
  grantTokens?: readonly string[]
  id?: string
  clock?: Clock
}
