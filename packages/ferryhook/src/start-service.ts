/** Puts the service together: the data layer, the routes, and what runs beside them. */
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { createKeptSecrets } from './accounts/kept-secrets.ts'
import type { Notices } from './accounts/notices.ts'
import { composeApi } from './api/compose.ts'
import { openCursors } from './api/cursors.ts'
import { apiRoutes } from './api/routes.ts'
import { createDataLayer } from './db/data-layer.ts'
import { createWorker } from './delivery/worker.ts'
import type { Timers } from './delivery/timers.ts'
import { composeEvents } from './events/compose.ts'
import { eventLimits } from './ingest/event-limits.ts'
import { createIngest } from './ingest/ingest.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { createPasswords, type Passwords } from './sandbox/passwords.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import type { FerryhookNeeds } from './service-definition.ts'
import { destinationPolicy } from './settings.ts'
import { createPayPalCertificates } from './verification/paypal-certificates.ts'

export interface StartOptions {
  /** Tests hash passwords more cheaply. */
  passwords?: Passwords
  /** Whether this process delivers too; unless told, it does. */
  delivers?: boolean
  /** Tests move time. */
  timers?: Timers
}

export async function startFerryhook(
  deps: ServiceDeps & FerryhookNeeds,
  { passwords = createPasswords(), delivers = true, timers }: StartOptions = {},
): Promise<RunningService> {
  const cursors = await openCursors(deps.secrets)
  const layer = createDataLayer({ ...deps, cursors })
  const kept = createKeptSecrets(deps.secretBox)
  const sandbox = createSandbox()
  const safeFetch = createSafeFetch(destinationPolicy(deps.config))
  const worker = createWorker({ ...deps, db: layer, fetcher: safeFetch, sandbox })
  const notices: Notices = {
    sourceChanged(sourceId) {
      worker.changed(sourceId)
      ingest.sourceChanged(sourceId)
    },
    userChanged: (userId) => ingest.userChanged(userId),
    workDue: () => (delivers ? worker.hint() : undefined),
  }
  const operators = createOperators(deps)
  const api = composeApi({
    ...deps,
    layer,
    operators,
    kept,
    passwords,
    sandbox,
    safeFetch,
    notices,
  })
  const events = composeEvents({ ...deps, ...api, cursors, notices, timers })
  const ingest = createIngest({
    ...deps,
    db: layer,
    limits: eventLimits(deps.config),
    payPalCertificates: createPayPalCertificates({ ...deps, fetch: (url) => safeFetch(url) }),
    hint(sourceId) {
      if (delivers) worker.hint(sourceId)
      events.received(sourceId)
    },
  })
  if (delivers) {
    worker.start()
    events.replays.start()
  }

  return {
    routes: apiRoutes({ ...api, cursors }, events.routes),
    ...ingestRoutes(ingest),
    endStreams: events.endStreams,
    async close() {
      await ingest.flush()
      await events.replays.close()
      await worker.close()
      await Promise.all([passwords.close(), sandbox.close(), safeFetch.close()])
    },
  }
}
