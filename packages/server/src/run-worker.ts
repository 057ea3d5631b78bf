/** Runs the workers of services without a server; closes in reverse order. */
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { startBackgroundTimer } from '@strongroom/platform/timers'
import { createJobRunner } from '@strongroom/kit/jobs/runner'
import type { Log } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import type { RunningWorker, Service } from '@strongroom/kit/service'
import { type ServerCapabilities, createServiceDeps } from './service-deps.ts'
import { type Listener, listen } from '@strongroom/kit/http/node'
import { acceptCopy } from './copies/state.ts'
import { type FiguresRecorder, startFiguresRecorder } from './figures/recorder.ts'
import { createFiguresStore } from './figures/store.ts'
import { createJobKinds } from './jobs/kinds.ts'
import { type OpenKms, openKms, requireSharedKms } from './kms/open.ts'
import type { AskPassphrase } from './kms/master-key.ts'
import { publicUrlOf } from './own-settings.ts'
import type { Settings } from './settings.ts'
import { openStore, type OpenStoreOptions, type Store } from './store.ts'
import { recordVersion } from './store-version/store-version.ts'
import { requireTables, tablesOf } from './tables.ts'
import { version } from './version.ts'

export interface RunningWorkers {
  store: Pick<Store, 'kind' | 'label' | 'location'>
  kms: Pick<OpenKms, 'warning'>
  /** The services whose workers run. */
  services: readonly string[]
  metricsUrl: string | undefined
  close(): Promise<void>
}

export async function runWorkers(options: {
  settings: Settings
  services: readonly Service<ServerCapabilities>[]
  /** The port for metrics, on 127.0.0.1. */
  metricsPort?: number | undefined
  log: Log
  clock?: Clock
  askPassphrase?: AskPassphrase | undefined
  /** Called with the location of a store that did not exist. */
  onStoreCreated?: (location: string) => void
  /** Called while a data directory of an older version is converted. */
  onConversion?: OpenStoreOptions['onConversion']
}): Promise<RunningWorkers> {
  const { settings, services, metricsPort, log, clock = systemClock } = options
  const running: RunningWorker[] = []
  let listener: Listener | undefined
  let store: Store | undefined
  let kms: OpenKms | undefined
  let figures: FiguresRecorder | undefined
  const close = async () => {
    await listener?.close()
    for (const worker of running.toReversed()) await worker.close()
    await figures?.close()
    await kms?.close()
    await store?.close()
  }
  try {
    const metrics = createMetrics({ process: true })
    if (metricsPort !== undefined) {
      listener = await listen('127.0.0.1', metricsPort, { log, metrics })
      const { localMetrics } = await import('./metrics-routes.ts')
      listener.serve(localMetrics({ log, metrics }))
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
    const publicUrl = publicUrlOf(settings, settings.PORT)
    // The server runs elsewhere, but with the same settings.
    const listeners = [{ host: settings.HOST, port: settings.PORT }]
    const on = { ...options, store, kms, publicUrl, listeners, clock, metrics }
    const deps = createServiceDeps(on)
    const names: string[] = []
    for (const { name, startWorker } of services) {
      if (!startWorker) continue
      running.push(await startWorker({ ...deps, log: log.child({ service: name }) }))
      names.push(name)
    }
    figures = startFiguresRecorder({
      store: createFiguresStore({ db: store.db, clock }),
      metrics,
      role: 'worker',
      version,
      clock,
      startTimer: startBackgroundTimer,
      log,
    })
    const kinds = await createJobKinds(services, deps)
    const jobs = createJobRunner({ ...deps, startTimer: startBackgroundTimer, kinds })
    running.push(jobs)
    jobs.start()
    const metricsUrl = listener && `http://127.0.0.1:${listener.port}/metrics`
    return { store, kms, services: names, metricsUrl, close }
  } catch (error) {
    await close()
    throw error
  }
}
