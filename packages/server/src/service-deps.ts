/** What services are given, in a server and in a worker. */
import type { Clock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import { createServerSecrets } from '@strongroom/kit/server-secrets'
import type { ServiceDeps } from '@strongroom/kit/service'
import type { Abilities } from './abilities.ts'
import type { OpenKms } from './kms.ts'
import { openSecretBox } from './secret-box.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'

export function serviceDeps(on: {
  store: Pick<Store, 'db'>
  kms: Pick<OpenKms, 'key'>
  settings: Settings
  publicUrl: string
  log: Log
  clock: Clock
  metrics: Metrics
}): ServiceDeps & Abilities {
  const { store, kms, settings, publicUrl, log, clock, metrics } = on
  const { db } = store
  return {
    db,
    clock,
    log,
    metrics,
    secrets: createServerSecrets({ db, key: kms.key, clock }),
    publicUrl,
    // Parsed by the one table that has the settings of every service.
    config: settings as never,
    kmsKey: kms.key,
    secretBox: openSecretBox({ db, clock, kmsKey: kms.key }),
  }
}
