/** Runs a server: takes the address, opens store and KMS, mounts the services; ends in reverse order. */
import { type Clock, systemClock } from '@strongroom/kit/clock'
import type { Log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import type { Service } from '@strongroom/kit/service'
import type { Abilities } from './abilities.ts'
import { createServerApp, type ServerApp } from './app.ts'
import { addFirstOperator } from './first-operator.ts'
import { type Listener, listen } from './listen.ts'
import { type OpenKms, openKms } from './kms.ts'
import type { AskPassphrase } from './master-key.ts'
import { localMetrics } from './metrics-routes.ts'
import { publicUrlOf } from './public-url.ts'
import { serviceHref } from './service-href.ts'
import type { Settings } from './settings.ts'
import { openStore, type Store } from './store.ts'
import { requireTables, tablesOf } from './tables.ts'

export interface RunningServer {
  /** Where people reach it. */
  url: string
  store: Pick<Store, 'kind' | 'label' | 'location'>
  kms: Pick<OpenKms, 'kind' | 'label' | 'location'>
  /** What runs, and where people find it. */
  services: readonly { name: string; title: string; url: string }[]
  /** Where metrics need no token, if they have a port of their own. */
  metricsUrl: string | undefined
  /** The token of the first operator, on the start that made it. */
  operatorToken: string | undefined
  /** Finishes the running requests, flushes the store and ends. */
  close(): Promise<void>
}

export async function serve(options: {
  settings: Settings
  /** Those to run. */
  services: readonly Service<Abilities>[]
  /** Mounts the only service at the root, in place of the home page. */
  atRoot?: boolean
  log: Log
  clock?: Clock
  /** Where there is a person to ask. */
  askPassphrase?: AskPassphrase | undefined
}): Promise<RunningServer> {
  const { settings, services, atRoot = false, log, clock = systemClock } = options
  const listeners: Listener[] = []
  let store: Store | undefined
  let kms: OpenKms | undefined
  let app: ServerApp | undefined
  const close = async () => {
    app?.endStreams()
    await Promise.all(listeners.map((listener) => listener.close()))
    await app?.close()
    await kms?.close()
    await store?.close()
  }
  try {
    // Addresses come first: if one is taken, nothing has been created yet.
    const main = await listen(settings.HOST, settings.PORT)
    listeners.push(main)
    const metrics = createMetrics({ process: true })
    let metricsUrl: string | undefined
    if (settings.STRONGROOM_METRICS_PORT !== undefined) {
      const local = await listen('127.0.0.1', settings.STRONGROOM_METRICS_PORT)
      listeners.push(local)
      local.serve(localMetrics(metrics).fetch)
      metricsUrl = `http://127.0.0.1:${local.port}/metrics`
    }
    store = await openStore(settings)
    await requireTables(store, tablesOf(services))
    kms = await openKms(settings, store, { clock, askPassphrase: options.askPassphrase })
    const operatorToken = await addFirstOperator(createOperators({ db: store.db, clock }))
    const url = publicUrlOf(settings, main.port)
    app = await createServerApp({
      services,
      atRoot,
      store,
      kms,
      settings,
      publicUrl: url,
      log,
      clock,
      metrics,
    })
    main.serve(app.fetch, app.node)
    return {
      url,
      store,
      kms,
      services: services.map((service) => ({
        name: service.name,
        title: service.title,
        url: absolute(url, serviceHref(service, { atRoot, settings, publicUrl: url })),
      })),
      metricsUrl,
      operatorToken,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** Where a link on the home page leads; one to another host says so itself. */
function absolute(url: string, href: string): string {
  return href.startsWith('/') ? url + href : href
}
