/** Composes the service: stores, routes and background loops. */
import { type AuditedWrite, createAuditLog } from '@strongroom/kit/audit-log'
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, RunningWorker, ServiceDeps } from '@strongroom/kit/service'
import { createPasswordHasher, type PasswordHasher } from './accounts/sessions/password-hasher.ts'
import { createChannels } from './alerts/channels.ts'
import { createAlertNotifier } from './alerts/notifier.ts'
import type { Api } from './api.ts'
import { createRetentionLoop } from './deliveries/retention.ts'
import { createCredentialRule } from './events/credential-headers.ts'
import { openCursors } from './http/cursors.ts'
import { createIngest } from './ingest/handler.ts'
import { eventLimits } from './ingest/limits.ts'
import type { LocalEvents } from './local-events.ts'
import { openMailer } from './mail/mailer.ts'
import { destinationPolicy } from './outbound/destination-url.ts'
import { type Backlog, readBacklog } from './queue/backlog.ts'
import { createReplayRunner } from './replays/runner.ts'
import { createSandbox } from './sandbox/sandbox.ts'
import { createWorkScheduler } from './sandbox/work-scheduler.ts'
import type { FerryhookNeeds } from './service.ts'
import { createSealedSecrets } from './signing/sealed-secrets.ts'
import { createFerryhookStatus } from './status.ts'
import { createStores } from './stores.ts'
import { createTestDestination } from './test-requests/destination.ts'
import { createPayPalCertificates } from './verification/paypal-certificates.ts'
import { startTimer as systemTimer, type StartTimer } from '@strongroom/platform/timers'
import { createWorker } from './worker/worker.ts'

const LOCAL_NOTICE =
  'delivers to http:// on this machine, except to itself, because only this machine reaches it; PUBLIC_URL ends that'

export interface StartOptions {
  /** Tests use a cheaper one. */
  passwordHasher?: PasswordHasher
  /** Whether this process delivers events; defaults to the setting. */
  delivers?: boolean
  /** Tests control time. */
  startTimer?: StartTimer
}

export async function startFerryhook(
  deps: ServiceDeps & FerryhookNeeds,
  {
    passwordHasher = createPasswordHasher(),
    delivers = deps.config.FERRYHOOK_DELIVER && deps.runsContinuously !== false,
    startTimer,
  }: StartOptions = {},
): Promise<RunningService> {
  const delivery = await startDelivery(deps, { startTimer })
  const { stores, worker, safeFetch, isCredentialHeader } = delivery
  const localEvents: LocalEvents = {
    sourceChanged(sourceId) {
      worker.invalidate(sourceId)
      ingest.invalidateSource(sourceId)
    },
    userChanged: (userId) => ingest.invalidateUser(userId),
    workDue: () => (delivers ? worker.wake() : undefined),
  }
  const operators = createOperators(deps)
  const auditLog = createAuditLog(deps)
  const { cursors } = delivery
  const auditedStores = (change: AuditedWrite) =>
    createStores({ ...deps, cursors, db: auditLog.audited(change) })
  const replayRunner = createReplayRunner({
    ...deps,
    ...delivery,
    onReplayed: () => localEvents.workDue(),
  })
  let api: Api | undefined
  let isEnding = false
  const ingest = createIngest({
    ...deps,
    stores,
    limits: eventLimits(deps.config),
    isCredentialHeader,
    scheduler: delivery.scheduler,
    payPalCertificates: createPayPalCertificates({ ...deps, fetch: (url) => safeFetch(url) }),
    alerts: delivery.notifier,
    reserve: delivers ? worker.reserve : undefined,
    onStored(event, isReserved) {
      if (delivers && !isReserved) worker.wake(event)
      api?.live.notify(event.sourceId)
    },
  })
  if (delivers) {
    worker.start()
    replayRunner.start()
  }

  return {
    async loadRoutes() {
      const { createApi } = await import('./api.ts')
      const { ingestRoutes } = await import('./ingest/routes.ts')
      api = createApi({
        ...deps,
        ...delivery,
        auditedStores,
        auditLog,
        operators,
        passwordHasher,
        localEvents,
        replayRunner,
        receiveEvent: (request) => ingest.receive(request),
      })
      if (isEnding) api.live.stop()
      return { routes: api.routes, ...ingestRoutes(ingest) }
    },
    notice: destinationPolicy(deps.config, deps).allowLoopback ? LOCAL_NOTICE : undefined,
    status: createFerryhookStatus({ ...deps, stores }),
    endStreams() {
      isEnding = true
      api?.live.stop()
    },
    async flush() {
      await Promise.all([ingest.flush(), api?.settled(), operators.settled()])
      await delivery.notifier.settled()
    },
    async close() {
      await ingest.flush()
      await replayRunner.close()
      await api?.settled()
      await delivery.close()
      await passwordHasher.close()
    },
  }
}

export interface FerryhookWorker extends RunningWorker {
  /** Does all that is due, where no loop runs. */
  runDue(): Promise<void>
  /** Extends the expiry of events whose work is overdue. */
  extendOverdue(): Promise<void>
  /** How much work is due. */
  readBacklog(): Promise<Backlog>
}

/** Starts a process that only delivers. Any number of them can run. */
export async function startFerryhookWorker(
  deps: ServiceDeps & FerryhookNeeds,
): Promise<FerryhookWorker> {
  const delivery = await startDelivery(deps, {})
  const { worker } = delivery
  const replays = createReplayRunner({ ...deps, ...delivery, onReplayed: () => worker.wake() })
  if (deps.runsContinuously !== false) {
    worker.start()
    replays.start()
  }
  return {
    async runDue() {
      await replays.runOnce()
      await worker.runOnce()
      await worker.flush()
      await delivery.notifier.settled()
    },
    extendOverdue: delivery.extendOverdue,
    readBacklog: () => readBacklog({ ...delivery.stores, clock: deps.clock }),
    async close() {
      await replays.close()
      await delivery.close()
    },
  }
}

/** What servers and stand-alone workers have in common. */
async function startDelivery(
  deps: ServiceDeps & FerryhookNeeds,
  { startTimer = systemTimer }: { startTimer?: StartTimer | undefined },
) {
  const mailer = await openMailer(deps.config)
  const cursors = await openCursors(deps.secrets)
  const stores = createStores({ ...deps, cursors })
  const sealedSecrets = createSealedSecrets(deps.secretBox)
  const sandbox = createSandbox(deps)
  const scheduler = createWorkScheduler()
  const testDestination = createTestDestination({ stores, sealedSecrets })
  const safeFetch = createSafeFetch(destinationPolicy(deps.config, deps))
  const channels = createChannels({ ...deps, stores, sealedSecrets, safeFetch, mailer })
  const notifier = createAlertNotifier({ ...deps, stores, channels, startTimer })
  const isCredentialHeader = createCredentialRule(deps.config.FERRYHOOK_EXEMPT_HEADERS)
  const worker = createWorker({
    ...deps,
    stores,
    fetcher: safeFetch,
    testDestination,
    sandbox,
    isCredentialHeader,
    scheduler,
    alerts: notifier,
    startTimer,
  })
  const retentionLoop = createRetentionLoop({ ...deps, stores, startTimer })
  if (deps.runsContinuously !== false) retentionLoop.start()
  return {
    cursors,
    stores,
    sealedSecrets,
    sandbox,
    scheduler,
    safeFetch,
    testDestination,
    mailer,
    channels,
    notifier,
    worker,
    isCredentialHeader,
    startTimer,
    extendOverdue: retentionLoop.check,
    async close() {
      await Promise.all([retentionLoop.close(), worker.close()])
      await notifier.close()
      await Promise.all([sandbox.close(), scheduler.close(), safeFetch.close()])
      mailer?.close()
    },
  }
}
