/** The public API of the published package. */
export { openAuditFile } from './audit.ts'
export { KmsError } from './errors.ts'
export { createKms } from './kms.ts'
export { MasterKeyError } from './master-key/errors.ts'
export {
  changePassphrase,
  createMasterKeyFile,
  newMasterKey,
  openMasterKeyFile,
} from './master-key/file.ts'
export { embedded } from './sdk.ts'
export { serveKms } from './serve.ts'
export { memoryKeyStorage } from './testing/memory-key-storage.ts'

export type * from './api.ts'
export type { Audit, AuditEvent, AuditFile } from './audit.ts'
export type { BackingKey, KeyRecord, KeyState, KeyStorage, StateChange } from './key-storage.ts'
export type { EmbeddedKms, KmsOperations, KmsOptions } from './kms.ts'
export type { MasterKey } from './master-key/key.ts'
export type { KmsServer, ServeKmsOptions } from './serve.ts'
