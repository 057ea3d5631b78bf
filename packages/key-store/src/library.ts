/** The public API of the published package. */
export { createKeyStore } from './aws/create-key-store.ts'
export { cachedBranchKeys } from './cache.ts'
export { KeyStoreError } from './errors.ts'
export { openKeyStore } from './store/key-store.ts'
export { createKeyStorage } from './store/storage.ts'

export type { CreateKeyStoreOptions } from './aws/create-key-store.ts'
export type { CachedBranchKeys, CacheOptions } from './cache.ts'
export type { KeyStoreFailure } from './errors.ts'
export type {
  ActiveBeacon,
  ActiveVersion,
  DecryptOnlyVersion,
  EncryptedHierarchicalKey,
} from './store/encrypted-key.ts'
export type {
  BeaconKeyMaterials,
  BranchKeyMaterials,
  BranchKeySource,
  KeyStore,
  KeyStoreInfo,
  KeyStoreOptions,
} from './store/key-store.ts'
export type { KmsConfiguration } from './store/kms-configuration.ts'
export type {
  DbSource,
  DynamoDbClient,
  KeyStorage,
  KeyStorageOptions,
  ReadOptions,
  WriteOptions,
} from './store/storage.ts'
