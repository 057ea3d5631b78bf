/** Puts the service together: the data layer, the routes, and what runs beside them. */
import { createOperators } from '@strongroom/kit/operators'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import type { Notices } from './accounts/notices.ts'
import { composeApi } from './api/compose.ts'
import { apiRoutes } from './api/routes.ts'
import { composeDelivery } from './compose-delivery.ts'
import type { Timers } from './delivery/timers.ts'
import { composeEvents } from './events/compose.ts'
import { eventLimits } from './ingest/event-limits.ts'
import { createIngest } from './ingest/ingest.ts'
import { ingestRoutes } from './ingest/routes.ts'
import { createPasswords, type Passwords } from './sandbox/passwords.ts'
import type { FerryhookNeeds } from './service-definition.ts'
import { createPayPalCertificates } from './verification/paypal-certificates.ts'

export interface StartOptions {
  /** Tests hash passwords more cheaply. */
  passwords?: Passwords
  /** Whether this process delivers too; unless told, as the settings say. */
  delivers?: boolean
  /** Tests move time. */
  timers?: Timers
}

export async function startFerryhook(
  deps: ServiceDeps & FerryhookNeeds,
  {
    passwords = createPasswords(),
    delivers = deps.config.FERRYHOOK_DELIVER,
    timers,
  }: StartOptions = {},
): Promise<RunningService> {
  const delivery = await composeDelivery(deps, { timers })
  const { layer, worker, safeFetch, cursors } = delivery
  const notices: Notices = {
    sourceChanged(sourceId) {
      worker.changed(sourceId)
      ingest.sourceChanged(sourceId)
    },
    userChanged: (userId) => ingest.userChanged(userId),
    workDue: () => (delivers ? worker.hint() : undefined),
  }
  const operators = createOperators(deps)
  const api = composeApi({ ...deps, ...delivery, operators, passwords, notices })
  const events = composeEvents({ ...deps, ...api, ...delivery, notices })
  const ingest = createIngest({
    ...deps,
    db: layer,
    limits: eventLimits(deps.config),
    payPalCertificates: createPayPalCertificates({ ...deps, fetch: (url) => safeFetch(url) }),
    alerts: delivery.teller,
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
      await api.letters.settled()
      await delivery.close()
      await passwords.close()
    },
  }
}
