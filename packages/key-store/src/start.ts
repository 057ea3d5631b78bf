/** Composes the key store: on a deployment's store, and as a service of the server. */
import type { Db } from '@strongroom/kit/db'
import { createOperators } from '@strongroom/kit/operators'
import type { ServiceDeps } from '@strongroom/kit/service'
import { type BranchKeys, createBranchKeys } from './branch-keys/service.ts'
import type { KeyStoreNeeds } from './service.ts'
import { type KeyStore, openKeyStore } from './store/key-store.ts'
import { createKeyListing, type KeyListing } from './branch-keys/listing.ts'
import { keyStoreRoutes } from './branch-keys/routes.ts'
import { createKeyStorage, type KeyStorageOptions } from './store/storage.ts'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from './tables.ts'

/** Starts the key store as a service of the server. */
export function startKeyStore(deps: ServiceDeps & KeyStoreNeeds) {
  const branchKeys = openBranchKeys(deps)
  const operators = createOperators(deps)
  return { routes: keyStoreRoutes({ branchKeys, operators, secrets: deps.secrets }) }
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

/** Lists branch keys, without KMS. */
export function openListingOn(db: Db): KeyListing {
  return createKeyListing(tableOn(db))
}

/** The operations for operators. */
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
