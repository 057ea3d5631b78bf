/** The entry `@strongroom/key-store/aws`: AWS's Encryption SDK on branch keys. */
export { awsBranchKeyCache } from './keyring-cache.ts'
export { awsBranchKeyStore } from './keyring.ts'
