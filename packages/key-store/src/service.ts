/** The key store as a service of the server. */
import type { KmsKey } from '@strongroom/kit/kms'
import { createOperators } from '@strongroom/kit/operators'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import { type BranchKeys, createBranchKeys } from './branch-keys.ts'
import { keyStoreError } from './errors.ts'
import { type KeyStore, openKeyStore } from './key-store.ts'
import { createKeyListing } from './listing.ts'
import { keyStoreRoutes } from './routes.ts'
import { createKeyStorage } from './storage.ts'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from './table.ts'

export interface KeyStoreNeeds {
  /** The key that wraps branch keys. */
  kmsKey: KmsKey
}

export const keyStoreService: Service<KeyStoreNeeds> = {
  name: 'key-store',
  title: 'Key store',
  summary: 'Create, rotate and read branch keys as the AWS specification has them',
  mount: '/key-store',
  tables: [branchKeysTable],
  errors: keyStoreError,
  start(deps) {
    const { branchKeys } = openBranchKeys(deps)
    const operators = createOperators(deps)
    return { routes: keyStoreRoutes({ branchKeys, operators, secrets: deps.secrets }) }
  },
}

/** The key store of a deployment, and what operators do with it. */
export function openBranchKeys({
  db,
  clock,
  kmsKey: { kms, arn },
}: Pick<ServiceDeps, 'db' | 'clock'> & KeyStoreNeeds): {
  keyStore: KeyStore
  branchKeys: BranchKeys
} {
  const table = {
    db,
    tableName: branchKeysTable.name,
    logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
  }
  const keyStore = openKeyStore({
    storage: createKeyStorage(table),
    kms,
    kmsConfiguration: { kind: 'kmsKeyArn', arn },
    clock,
  })
  return {
    keyStore,
    branchKeys: createBranchKeys({ keyStore, listing: createKeyListing(table), clock }),
  }
}
