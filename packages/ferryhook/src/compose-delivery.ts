/** What every process that delivers has, be it a server or a worker alone. */
import type { ServiceDeps } from '@strongroom/kit/service'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { createKeptSecrets } from './accounts/kept-secrets.ts'
import { createChannels } from './alerts/channels.ts'
import { createTeller } from './alerts/teller.ts'
import { openCursors } from './api/cursors.ts'
import { createDataLayer } from './db/data-layer.ts'
import { createKeeper } from './delivery/keeper.ts'
import { systemTimers, type Timers } from './delivery/timers.ts'
import { createWorker } from './delivery/worker.ts'
import { openMailer } from './mail/mailer.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import type { FerryhookNeeds } from './service-definition.ts'
import { destinationPolicy } from './settings.ts'

export async function composeDelivery(
  deps: ServiceDeps & FerryhookNeeds,
  { timers = systemTimers }: { timers?: Timers | undefined },
) {
  const mailer = await openMailer(deps.config)
  const cursors = await openCursors(deps.secrets)
  const layer = createDataLayer({ ...deps, cursors })
  const kept = createKeptSecrets(deps.secretBox)
  const sandbox = createSandbox()
  const safeFetch = createSafeFetch(destinationPolicy(deps.config))
  const channels = createChannels({ ...deps, layer, kept, safeFetch, mailer })
  const teller = createTeller({ ...deps, layer, channels, timers })
  const worker = createWorker({
    ...deps,
    db: layer,
    fetcher: safeFetch,
    sandbox,
    alerts: teller,
    timers,
  })
  const keeper = createKeeper({ ...deps, layer, timers })
  keeper.start()
  return {
    cursors,
    layer,
    kept,
    sandbox,
    safeFetch,
    mailer,
    channels,
    teller,
    worker,
    timers,
    async close() {
      await Promise.all([keeper.close(), worker.close()])
      await teller.close()
      await Promise.all([sandbox.close(), safeFetch.close()])
      mailer?.close()
    },
  }
}
