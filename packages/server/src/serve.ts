/** Runs a server: listens, opens the store and the KMS, mounts the services; closes in reverse order. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import type { Log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { Service } from '@strongroom/kit/service'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { createCapacity } from '@strongroom/kit/http/capacity'
import { type Listener, listen } from '@strongroom/kit/http/node'
import { startBackgroundTimer } from '@strongroom/platform/timers'
import { type ServerApp, createServerApp } from './app.ts'
import { acceptCopy } from './copies/state.ts'
import { type FiguresRecorder, startFiguresRecorder } from './figures/recorder.ts'
import { createFiguresStore } from './figures/store.ts'
import type { AskPassphrase } from './kms/master-key.ts'
import { type OpenKms, openKms, requireSharedKms } from './kms/open.ts'
import { localActor } from './local-actor.ts'
import type { BootstrapCode } from './operators/bootstrap.ts'
import { createOperatorService } from './operators/service.ts'
import type { ServerCapabilities } from './service-deps.ts'
import { capacityLimits, publicUrlOf } from './own-settings.ts'
import { isLocalServer, type Settings } from './settings.ts'
import { type OpenStoreOptions, type Store, openStore } from './store.ts'
import { recordVersion } from './store-version/store-version.ts'
import { requireTables, tablesOf } from './tables.ts'
import { version } from './version.ts'
import { createStatusMetrics } from './status/metrics.ts'
import { serviceHref } from './virtual-hosts.ts'

export interface RunningServer {
  /** Where people reach it. */
  url: string
  store: Pick<Store, 'kind' | 'label' | 'location'>
  kms: Pick<OpenKms, 'kind' | 'label' | 'location' | 'warning'>
  /** What runs, with the address of its page or reference. */
  services: readonly { name: string; title: string; url: string; notice?: string }[]
  /** The address of metrics without a token, if they have a port of their own. */
  metricsUrl: string | undefined
  /** The code to exchange for the first admin's token, if there is no admin yet. */
  bootstrap: BootstrapCode | undefined
  /** Finishes the running requests, flushes the store and ends. */
  close(): Promise<void>
}

export async function serve(options: {
  settings: Settings
  services: readonly Service<ServerCapabilities>[]
  /** Mounts the only service at the root, in place of the home page. */
  atRoot?: boolean
  log: Log
  clock?: Clock
  /** Asks for the passphrase on a terminal. */
  askPassphrase?: AskPassphrase | undefined
  /** Called with the location of a store that did not exist. */
  onStoreCreated?: (location: string) => void
  /** Called while a data directory of an older version is converted. */
  onConversion?: OpenStoreOptions['onConversion']
}): Promise<RunningServer> {
  const { settings, services, atRoot = false, log, clock = systemClock } = options
  const listeners: Listener[] = []
  let store: Store | undefined
  let kms: OpenKms | undefined
  let app: ServerApp | undefined
  let figures: FiguresRecorder | undefined
  const close = async () => {
    app?.endStreams()
    await Promise.all(listeners.map((listener) => listener.close()))
    await app?.close()
    await figures?.close()
    await kms?.close()
    await store?.close()
  }
  try {
    // Listen first: if a port is in use, nothing has been created yet.
    const metrics = createMetrics({ process: true })
    const { PUBLIC_URL: publicUrl, STRONGROOM_TRUSTED_PROXIES: trustedProxies } = settings
    const http = { log, metrics, publicUrl, trustedProxies }
    const limits = capacityLimits(settings)
    const capacity = createCapacity({ limits, trustedProxies, metrics })
    const main = await listen(settings.HOST, settings.PORT, { ...http, capacity })
    listeners.push(main)
    let metricsUrl: string | undefined
    if (settings.STRONGROOM_METRICS_PORT !== undefined) {
      const local = await listen('127.0.0.1', settings.STRONGROOM_METRICS_PORT, http)
      listeners.push(local)
      const { localMetrics } = await import('./metrics-routes.ts')
      local.serve(localMetrics({ log, metrics }))
      metricsUrl = `http://127.0.0.1:${local.port}/metrics`
    }
    requireSharedKms(settings)
    const { onStoreCreated: onCreate, onConversion } = options
    store = await openStore(settings, { onCreate, onConversion, clock })
    await requireTables(store, tablesOf(services))
    await recordVersion(store.db)
    await acceptCopy(store.db)
    kms = await openKms(settings, store, {
      clock,
      askPassphrase: options.askPassphrase,
      sweep: { log },
    })
    const { db } = store
    const operators = createOperatorService({ db, clock, auditLog: createAuditLog({ db, clock }) })
    const bootstrap = await operators.createCodeIfNeeded(localActor())
    const url = publicUrlOf(settings, main.port)
    const isLocal = isLocalServer(settings, listeners)
    app = await createServerApp({
      services,
      atRoot,
      store,
      kms,
      settings,
      publicUrl: url,
      listeners: listeners.map(({ host, port }) => ({ host, port })),
      isLocal,
      log,
      clock,
      metrics,
      capacity,
    })
    const { status } = app
    const setStatusMetrics = createStatusMetrics(metrics)
    const { kind } = store
    figures = startFiguresRecorder({
      store: createFiguresStore({ db, clock }),
      metrics,
      role: 'server',
      version,
      clock,
      startTimer: startBackgroundTimer,
      log,
      async gauges() {
        const gauges = await status.gauges()
        setStatusMetrics(kind, gauges)
        return gauges
      },
    })
    main.serve(app.listener)
    const { notices } = app
    return {
      url,
      store,
      kms,
      services: services.map((service) => {
        const notice = notices.get(service.name)
        return {
          name: service.name,
          title: service.title,
          url: absolute(url, serviceHref(service, { atRoot, settings, publicUrl: url })),
          ...(notice !== undefined && { notice }),
        }
      }),
      metricsUrl,
      bootstrap,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** A link of the home page as an address. */
function absolute(url: string, href: string): string {
  return href.startsWith('/') ? url + href : href
}
