/** The key store as a service of the server. */
import type { Db } from '@strongroom/kit/db'
import type { KmsKey } from '@strongroom/kit/kms'
import { createOperators } from '@strongroom/kit/operators'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import { type BranchKeys, createBranchKeys } from './branch-keys.ts'
import { keyStoreError } from './errors.ts'
import { type KeyStore, openKeyStore } from './key-store.ts'
import { createKeyListing, type KeyListing } from './listing.ts'
import { keyStoreRoutes } from './routes.ts'
import { createKeyStorage, type KeyStorageOptions } from './storage.ts'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from './table.ts'

export interface KeyStoreNeeds {
  /** The key that wraps branch keys. */
  kmsKey: KmsKey
}

export const keyStoreService: Service<KeyStoreNeeds> = {
  name: 'key-store',
  title: 'Key store',
  summary: 'Branch keys of the AWS specification: create, rotate, read',
  mount: '/key-store',
  tables: [branchKeysTable],
  errors: keyStoreError,
  start(deps) {
    const branchKeys = openBranchKeys(deps)
    const operators = createOperators(deps)
    return { routes: keyStoreRoutes({ branchKeys, operators, secrets: deps.secrets }) }
  },
}

type On = Pick<ServiceDeps, 'db' | 'clock'> & KeyStoreNeeds

/** The key store of a deployment. */
export function openKeyStoreOn({ db, clock, kmsKey: { kms, arn } }: On): KeyStore {
  return openKeyStore({
    storage: createKeyStorage(tableOn(db)),
    kms,
    kmsConfiguration: { kind: 'kmsKeyArn', arn },
    clock,
  })
}

/** The keys that it has; to look at them takes no KMS. */
export function openListingOn(db: Db): KeyListing {
  return createKeyListing(tableOn(db))
}

/** What operators do with it. */
export function openBranchKeys(on: On): BranchKeys {
  return createBranchKeys({
    keyStore: openKeyStoreOn(on),
    listing: openListingOn(on.db),
    clock: on.clock,
  })
}

function tableOn(db: Db): KeyStorageOptions {
  return {
    db,
    tableName: branchKeysTable.name,
    logicalKeyStoreName: LOGICAL_KEY_STORE_NAME,
  }
}
