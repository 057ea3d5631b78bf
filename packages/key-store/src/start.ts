/** Composes the key store: on a deployment's store, and as a service of the server. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import type { JobKind } from '@strongroom/kit/jobs/kind'
import { createOperators } from '@strongroom/kit/operators'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { createAuditedBranchKeys } from './branch-keys/audited.ts'
import { createRotationJob } from './branch-keys/rotation-job.ts'
import { type BranchKeys, createBranchKeys } from './branch-keys/service.ts'
import type { KeyStoreNeeds } from './service.ts'
import { type KeyStore, openKeyStore } from './store/key-store.ts'
import { createKeyListing, type KeyListing } from './branch-keys/listing.ts'
import { createKeyStoreStatus } from './branch-keys/status.ts'
import { createKeyStorage, type KeyStorageOptions } from './store/storage.ts'
import { branchKeysTable, LOGICAL_KEY_STORE_NAME } from './tables.ts'

/** Starts the key store as a service of the server. */
export function startKeyStore(deps: ServiceDeps & KeyStoreNeeds): RunningService {
  const { secrets } = deps
  const branchKeys = openBranchKeys(deps)
  const auditedKeys = openAuditedKeys(deps)
  const operators = createOperators(deps)
  return {
    flush: operators.settled,
    async loadRoutes() {
      const { keyStoreRoutes } = await import('./branch-keys/routes.ts')
      return { routes: keyStoreRoutes({ branchKeys, auditedKeys, operators, secrets }) }
    },
    status: createKeyStoreStatus({ listing: openListingOn(deps.db), clock: deps.clock }),
  }
}

export function createKeyStoreJobs(deps: On): readonly JobKind[] {
  const rotation = createRotationJob({
    branchKeys: openBranchKeys(deps),
    auditedKeys: openAuditedKeys(deps),
    clock: deps.clock,
  })
  return [rotation]
}

function openAuditedKeys(deps: On) {
  return createAuditedBranchKeys({
    auditLog: createAuditLog(deps),
    branchKeysOn: (db) => openBranchKeys({ ...deps, db }),
  })
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
