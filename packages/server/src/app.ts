/**
 * The whole server as one app: starts the services, answers health checks, and loads everything else
 * that it serves with the first request for it.
 */
import type { RequestListener } from 'node:http'
import type { Clock } from '@strongroom/platform/clock'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import { createJobRunner } from '@strongroom/kit/jobs/runner'
import { type Capacity, createCapacity } from '@strongroom/kit/http/capacity'
import { createHarness } from '@strongroom/kit/http/harness'
import { createHotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { hotListener, lazyListener } from '@strongroom/kit/http/node'
import type { Log } from '@strongroom/kit/log'
import { createOperators } from '@strongroom/kit/operators'
import type { Metrics } from '@strongroom/kit/metrics'
import { openOnce } from '@strongroom/kit/open-once'
import type { RunningService, Service } from '@strongroom/kit/service'
import { type ServerCapabilities, createServiceDeps } from './service-deps.ts'
import type { OwnAddresses } from '@strongroom/kit/safe-fetch/own-addresses'
import { createFiguresService } from './figures/service.ts'
import { createFiguresStore } from './figures/store.ts'
import { createJobKinds } from './jobs/kinds.ts'
import { createHealthRoutes, SERVER } from './health.ts'
import type { OpenKms } from './kms/open.ts'
import { createHostSelector, hostsOf, originOf, requestedHost } from './virtual-hosts.ts'
import { capacityLimits } from './own-settings.ts'
import type { Settings } from './settings.ts'
import type { Sites } from './sites.ts'
import type { Store } from './store.ts'
import { createStatusService, type StatusService } from './status/service.ts'
import { tablesOf } from './tables.ts'

export interface ServerOptions {
  services: readonly Service<ServerCapabilities>[]
  /** Mounts the only service at the root, in place of the home page. */
  atRoot?: boolean
  store: Store
  kms: Omit<OpenKms, 'close'>
  settings: Settings
  publicUrl: string
  /** Where the server listens. */
  listeners?: OwnAddresses['listeners']
  /** Whether only this machine can reach the server. */
  isLocal?: boolean
  log: Log
  clock: Clock
  metrics: Metrics
  /** See `ServiceDeps`. */
  runsContinuously?: boolean
  /** For jobs. */
  startTimer?: StartTimer
  /** Shared with the listener; by default, created with the limits of the settings. */
  capacity?: Capacity
}

export interface ServerApp extends Pick<Sites, 'fetch' | 'request'> {
  /** For Node's server. */
  listener: RequestListener
  /** What services say about how they were started, by service. */
  notices: ReadonlyMap<string, string>
  status: StatusService
  /** See `RunningService`. */
  flush(): Promise<void>
  /** Ends the open streams of services. */
  endStreams(): void
  /** Stops what services run in the background. */
  close(): Promise<void>
}

export async function createServerApp(options: ServerOptions): Promise<ServerApp> {
  const { services, settings, publicUrl, runsContinuously = true } = options
  const { log, clock, metrics } = options
  const trustedProxies = settings.STRONGROOM_TRUSTED_PROXIES
  const limits = capacityLimits(settings)
  const { capacity = createCapacity({ limits, trustedProxies }) } = options
  const http = { log, metrics, publicUrl, trustedProxies, capacity }
  const deps = createServiceDeps(options)
  const started: { service: Service<ServerCapabilities>; running: RunningService }[] = []
  const startedAt = clock.now()
  const figures = createFiguresService({ store: createFiguresStore(deps), clock })
  const status = createStatusService({
    ...options,
    tables: tablesOf(services),
    services: () => started,
    figures,
  })
  const { startTimer = startBackgroundTimer } = options
  const jobKinds = await createJobKinds(services, deps)
  const jobs = createJobRunner({ ...deps, startTimer, kinds: jobKinds })
  const operators = createOperators(deps)
  const check = () => checkStoreAndKms(options)
  const health = createHealthRoutes({ check })
  const close = async () => {
    await jobs.close()
    for (const { running } of started.toReversed()) await running.close?.()
  }
  const notices = new Map<string, string>()
  try {
    for (const service of services) {
      const running = await service.start({ ...deps, log: log.child({ service: service.name }) })
      started.push({ service, running })
      if (running.notice !== undefined) notices.set(service.name, running.notice)
    }
    if (runsContinuously) jobs.start()
  } catch (error) {
    await close()
    throw error
  }

  const sites = openOnce(async () => {
    const { loadSites } = await import('./sites.ts')
    const parts = { http, started, startedAt, operators, health, check, figures, status }
    const loaded = await loadSites({ ...options, ...deps, ...parts, jobs, jobKinds })
    listener = loaded.listener
    return loaded
  })
  const harness = createHarness(http)
  const others = lazyListener(harness, async () => (await sites()).listener)
  const probes = hotListener(
    harness,
    createHotMatcher(mountHotRoutes({ hotRoutes: health }, SERVER, '/')),
    others,
  )
  const listenerOf = createHostSelector(probes, ownHosts(options, others))
  let listener: RequestListener = (incoming, outgoing) => {
    const first = listenerOf(requestedHost(incoming) ?? '') ?? others
    first(incoming, outgoing)
  }
  return {
    fetch: async (...request) => (await sites()).fetch(...request),
    request: async (...request) => (await sites()).request(...request),
    listener: (incoming, outgoing) => listener(incoming, outgoing),
    notices,
    status,
    flush: async () => {
      await Promise.all([operators.settled(), ...started.map(({ running }) => running.flush?.())])
    },
    endStreams() {
      for (const { running } of started) running.endStreams?.()
    },
    close,
  }
}

/** At the host of a service, only the service responds. */
function ownHosts<T>(options: ServerOptions, value: T): ReadonlyMap<string, T> {
  const origins = options.services.flatMap((service) => originOf(service, options) ?? [])
  return new Map(origins.flatMap(hostsOf).map((host) => [host, value]))
}

async function checkStoreAndKms({ store, kms }: ServerOptions): Promise<void> {
  await Promise.all([store.check(), kms.check()])
}
