/** The whole server as one app: the services, pages, health checks and metrics. */
import type { RequestListener } from 'node:http'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { consoleRoutes } from '@strongroom/console/routes'
import type { Clock } from '@strongroom/platform/clock'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import { createJobRunner } from '@strongroom/kit/jobs/runner'
import type { Context } from 'hono'
import { type App, createApp } from '@strongroom/kit/http/app'
import { type Capacity, createCapacity } from '@strongroom/kit/http/capacity'
import type { AppEnv } from '@strongroom/kit/http/env'
import {
  createHotMatcher,
  mountHotRoutes,
  type MountedHotRoute,
} from '@strongroom/kit/http/hot-routes'
import { nodeListener } from '@strongroom/kit/http/node'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import { publicRoute, requirePermissions } from '@strongroom/kit/http/permissions'
import { authenticateOperator, sessionCookie } from '@strongroom/kit/http/operator-authentication'
import type { Log } from '@strongroom/kit/log'
import { createOperators, type Operators, requireOperatorRole } from '@strongroom/kit/operators'
import type { Metrics } from '@strongroom/kit/metrics'
import { parseUrl } from '@strongroom/kit/parse-url'
import { mountService, type RunningService, type Service } from '@strongroom/kit/service'
import { type ServerCapabilities, createServiceDeps } from './service-deps.ts'
import type { OwnAddresses } from '@strongroom/kit/safe-fetch/own-addresses'
import { createFiguresService } from './figures/service.ts'
import { createFiguresStore } from './figures/store.ts'
import { createJobKinds } from './jobs/kinds.ts'
import { checkWithin } from './health.ts'
import type { OpenKms } from './kms/open.ts'
import {
  createHostSelector,
  hostsOf,
  originOf,
  requestedHost,
  serviceHref,
} from './virtual-hosts.ts'
import type { HomeProps } from './pages/home.tsx'
import { notFoundPage } from './pages/not-found.tsx'
import { addExamples } from './pages/reference/examples.ts'
import { pageRoutes } from './pages/routes.tsx'
import { createServerRoutes, SERVER } from './server-routes.ts'
import { capacityLimits } from './own-settings.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'
import { createStatusService, type StatusService } from './status/service.ts'
import { tablesOf } from './tables.ts'
import { version } from './version.ts'

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

export interface ServerApp {
  fetch: OpenAPIHono<AppEnv>['fetch']
  request: OpenAPIHono<AppEnv>['request']
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
  const { services, atRoot = false, settings, publicUrl, runsContinuously = true } = options
  const { log, clock, metrics } = options
  const trustedProxies = settings.STRONGROOM_TRUSTED_PROXIES
  const limits = capacityLimits(settings)
  const { capacity = createCapacity({ limits, trustedProxies }) } = options
  const http = { log, metrics, publicUrl, trustedProxies, capacity }
  const app = createApp({ ...http, notFoundPage: notFoundPage(version) })
  const deps = createServiceDeps(options)
  const started: { service: Service<ServerCapabilities>; running: RunningService }[] = []
  const figures = createFiguresService({ store: createFiguresStore(deps), clock })
  const status = createStatusService({
    ...options,
    tables: tablesOf(services),
    services: () => started,
    figures,
  })
  const { store, kms, startTimer = startBackgroundTimer } = options
  const jobKinds = await createJobKinds(services, deps)
  const jobs = createJobRunner({ ...deps, startTimer, kinds: jobKinds })
  const operators = createOperators(deps)
  const serverRoutes = createServerRoutes({
    ...deps,
    operators,
    settings,
    kms,
    services,
    check: () => checkStoreAndKms(options),
    figures,
    status,
    about: { version, startedAt: clock.now(), address: publicUrl, store, kms },
    jobs,
    jobKinds,
  })
  app.route('/', serverRoutes.routes)

  const notices = new Map<string, string>()
  const ownHosts = new Map<string, Site>()
  const hot = mountHotRoutes(serverRoutes, SERVER, '/')
  const close = async () => {
    await jobs.close()
    for (const { running } of started.toReversed()) await running.close?.()
  }
  // Created on the first request: it would be a sixth of the work of a start.
  let cached: ReturnType<typeof describe> | undefined
  const document = () => (cached ??= describe(app, publicUrl))
  const home = createHomeProps(options, new Date(clock.now()), async (c) =>
    (await canSeeServer(c, operators)) ? (await status.read()).problems : undefined,
  )
  try {
    for (const service of services) {
      const origin = originOf(service, options)
      // The page is only at its own host; browsers keep the fragment of the address.
      if (origin !== undefined)
        app.get(`${service.mount}/`, publicRoute, (c) => c.redirect(`${origin}/`))
      const at = atRoot ? '/' : service.mount
      const running = await mountService(app, service, deps, at)
      started.push({ service, running })
      if (running.notice !== undefined) notices.set(service.name, running.notice)
      hot.push(...mountHotRoutes(running, service.name, at))
      if (origin === undefined) continue
      const own = { ...http, publicUrl: origin }
      const { title, hasPage = false } = service
      const alone = createApp({ ...own, notFoundPage: notFoundPage(version, { title, hasPage }) })
      await mountService(alone, { ...service, start: () => running }, deps, '/')
      const site = createSite(alone, mountHotRoutes(running, service.name, '/'))
      for (const host of hostsOf(origin)) ownHosts.set(host, site)
    }
    app.route('/', consoleRoutes({ atRoot: atRoot ? services[0]?.name : undefined }))
    app.route('/', pageRoutes({ document, home, services }))
    requirePermissions(app, 'the server')
    if (runsContinuously) jobs.start()
  } catch (error) {
    await close()
    throw error
  }

  const endStreams = () => {
    for (const { running } of started) running.endStreams?.()
  }
  const flush = async () => {
    await Promise.all([operators.settled(), ...started.map(({ running }) => running.flush?.())])
  }
  const served = servedByHost(createSite(app, hot), ownHosts)
  return { ...served, notices, status, flush, endStreams, close }
}

/** What is served at one host. */
interface Site {
  app: App
  listener: RequestListener
}

function createSite(app: App, hotRoutes: readonly MountedHotRoute[]): Site {
  return { app, listener: nodeListener(app, createHotMatcher(hotRoutes)) }
}

function servedByHost(
  main: Site,
  others: ReadonlyMap<string, Site>,
): Pick<ServerApp, 'fetch' | 'request' | 'listener'> {
  const select = createHostSelector(main, others)
  // Refuses requests without a valid host.
  const fallback = nodeListener(main.app)
  const appOf = (address: string) => (select(parseUrl(address)?.host ?? '') ?? main).app
  return {
    fetch: (request, ...more) => appOf(request.url).fetch(request, ...more),
    request: (input, ...more) =>
      appOf(input instanceof Request ? input.url : String(input)).request(input, ...more),
    listener(incoming, outgoing) {
      const site = select(requestedHost(incoming) ?? '')
      const listener = site?.listener ?? fallback
      listener(incoming, outgoing)
    },
  }
}

function describe(app: OpenAPIHono<AppEnv>, publicUrl: string) {
  const document = openApiDocument(app, {
    title: 'Strongroom',
    description:
      'All requests and responses are JSON. Branch on the error `code`; the `message` is for people.',
    version,
    publicUrl,
  })
  return addExamples(document)
}

async function checkStoreAndKms({ store, kms }: ServerOptions): Promise<void> {
  await Promise.all([store.check(), kms.check()])
}

/** Whether the page is shown to an operator of the server. */
async function canSeeServer(c: Context<AppEnv>, operators: Operators): Promise<boolean> {
  if (sessionCookie.get(c) === undefined) return false
  try {
    const { operator, isLimited } = await authenticateOperator(c, operators)
    requireOperatorRole(operator, 'viewer', SERVER)
    return !isLimited
  } catch {
    // The home page is for everyone, and also shown while the store does not respond.
    return false
  }
}

function createHomeProps(
  options: ServerOptions,
  startedAt: Date,
  problemsFor: (c: Context<AppEnv>) => Promise<HomeProps['problems']>,
) {
  const { services, store, kms, publicUrl } = options
  return async (c: Context<AppEnv>): Promise<HomeProps> => ({
    version,
    publicUrl,
    startedAt,
    store: { kind: store.kind, label: store.label, detail: store.detail },
    kms: { label: kms.label, detail: kms.detail },
    ready: await checkWithin(() => checkStoreAndKms(options)).then(
      () => true,
      () => false,
    ),
    metricsPath: '/metrics',
    problems: await problemsFor(c),
    services: services.map((service) => ({
      name: service.name,
      title: service.title,
      summary: service.summary,
      href: serviceHref(service, options),
    })),
  })
}
