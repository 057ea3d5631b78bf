/** The dependencies of services, in a server and in a worker. */
import { cachedBranchKeys } from '@strongroom/key-store/cache'
import { createEnvelope } from '@strongroom/key-store/envelope/envelope'
import { openKeyStoreOn } from '@strongroom/key-store/start'
import { BRANCH_KEY_CACHE_SECONDS } from '@strongroom/kit/key-cache'
import type { KmsKey } from '@strongroom/kit/kms'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { createServerSecrets } from '@strongroom/kit/server-secrets'
import type { OwnAddresses } from '@strongroom/kit/safe-fetch/own-addresses'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import type { Clock } from '@strongroom/platform/clock'
import type { OpenKms } from './kms/open.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'
import { originOf } from './virtual-hosts.ts'

export function createServiceDeps(on: {
  store: Pick<Store, 'db'>
  kms: Pick<OpenKms, 'key'>
  settings: Settings
  services: readonly Pick<Service, 'originSetting'>[]
  publicUrl: string
  listeners?: OwnAddresses['listeners']
  /** See `isLocalServer`. */
  isLocal?: boolean
  /** See `ServiceDeps`. */
  runsContinuously?: boolean
  log: Log
  clock: Clock
  metrics: Metrics
}): ServiceDeps & ServerCapabilities {
  const { store, kms, settings, publicUrl, log, clock, metrics } = on
  const { db } = store
  return {
    db,
    clock,
    log,
    metrics,
    secrets: createServerSecrets({ db, key: kms.key, clock }),
    publicUrl,
    ...(on.isLocal !== undefined && { isLocal: on.isLocal }),
    ...(on.runsContinuously !== undefined && { runsContinuously: on.runsContinuously }),
    requiresSecondFactor: settings.STRONGROOM_REQUIRE_2FA,
    ownAddresses: {
      origins: [publicUrl, ...ownOrigins(on)],
      listeners: on.listeners ?? [],
      endpoints: [settings.DYNAMODB_ENDPOINT ?? [], settings.KMS_ENDPOINT ?? []].flat(),
    },
    // Parsed together with the settings of every service.
    config: settings as never,
    kmsKey: kms.key,
    secretBox: openSecretBox({ db, clock, kmsKey: kms.key }),
  }
}

function ownOrigins(on: Parameters<typeof createServiceDeps>[0]): string[] {
  return on.services.flatMap((service) => originOf(service, on) ?? [])
}

/** What the server offers beyond `ServiceDeps`; a service names what it needs in its `Needs`. */
export interface ServerCapabilities {
  kmsKey: KmsKey
  /** Seals secrets of services with the key store, each under a branch key of its tenant. */
  secretBox: SecretBox
  /** The values of all settings; a service knows which of them it declared. */
  config: never
}

/** A tenant has one branch key, and few versions of it are in use. */
const CAPACITY = 1_000

/**
 * One for all services, so that they share the cache. A rotated branch key takes effect when its cached
 * version expires.
 */
export function openSecretBox(on: Parameters<typeof openKeyStoreOn>[0]): SecretBox {
  const keyStore = openKeyStoreOn(on)
  const branchKeys = cachedBranchKeys(keyStore, {
    clock: on.clock,
    ttlSeconds: BRANCH_KEY_CACHE_SECONDS,
    capacity: CAPACITY,
  })
  return createEnvelope({ keyStore, branchKeys })
}
