/** The whole server as one app: the services, pages, health checks and metrics. */
import type { RequestListener } from 'node:http'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/platform/clock'
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
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import { parseUrl } from '@strongroom/kit/parse-url'
import { mountService, type RunningService, type Service } from '@strongroom/kit/service'
import { type ServerCapabilities, createServiceDeps } from './service-deps.ts'
import type { OwnAddresses } from '@strongroom/kit/safe-fetch/own-addresses'
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
import { pageRoutes } from './pages/routes.tsx'
import { createServerRoutes } from './server-routes.ts'
import { capacityLimits, type Settings } from './settings.ts'
import type { Store } from './store.ts'
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
  log: Log
  clock: Clock
  metrics: Metrics
  /** Shared with the listener; by default, created with the limits of the settings. */
  capacity?: Capacity
}

export interface ServerApp {
  fetch: OpenAPIHono<AppEnv>['fetch']
  request: OpenAPIHono<AppEnv>['request']
  /** For Node's server. */
  listener: RequestListener
  /** Ends the open streams of services. */
  endStreams(): void
  /** Stops what services run in the background. */
  close(): Promise<void>
}

export async function createServerApp(options: ServerOptions): Promise<ServerApp> {
  const { services, atRoot = false, settings, publicUrl } = options
  const { log, clock, metrics } = options
  const trustedProxies = settings.STRONGROOM_TRUSTED_PROXIES
  const limits = capacityLimits(settings)
  const { capacity = createCapacity({ limits, trustedProxies }) } = options
  const http = { log, metrics, publicUrl, trustedProxies, capacity }
  const app = createApp({ ...http, notFoundPage: notFoundPage(version) })
  const deps = createServiceDeps(options)
  const serverRoutes = createServerRoutes({ ...deps, check: () => checkStoreAndKms(options) })
  app.route('/', serverRoutes)

  const running: RunningService[] = []
  const ownHosts = new Map<string, Site>()
  const hot: MountedHotRoute[] = []
  const close = async () => {
    for (const service of running.toReversed()) await service.close?.()
  }
  // Created on the first request: it would be a sixth of the work of a start.
  let cached: ReturnType<typeof describe> | undefined
  const document = () => (cached ??= describe(app, publicUrl))
  const home = createHomeProps(options, new Date(clock.now()))
  try {
    for (const service of services) {
      const origin = originOf(service, options)
      // The page is only at its own host; browsers keep the fragment of the address.
      if (origin !== undefined)
        app.get(`${service.mount}/`, publicRoute, (c) => c.redirect(`${origin}/`))
      const at = atRoot ? '/' : service.mount
      const started = await mountService(app, service, deps, at)
      running.push(started)
      hot.push(...mountHotRoutes(started, service.name, at))
      if (origin === undefined) continue
      const own = { ...http, publicUrl: origin }
      const { title, hasPage = false } = service
      const alone = createApp({ ...own, notFoundPage: notFoundPage(version, { title, hasPage }) })
      await mountService(alone, { ...service, start: () => started }, deps, '/')
      const site = createSite(alone, mountHotRoutes(started, service.name, '/'))
      for (const host of hostsOf(origin)) ownHosts.set(host, site)
    }
    app.route('/', pageRoutes({ document, home }))
    requirePermissions(app, 'the server')
  } catch (error) {
    await close()
    throw error
  }

  const endStreams = () => {
    for (const service of running) service.endStreams?.()
  }
  return { ...servedByHost(createSite(app, hot), ownHosts), endStreams, close }
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
  return openApiDocument(app, {
    title: 'Strongroom',
    description:
      'All requests and responses are JSON. Branch on the error `code`; the `message` is for people.',
    version,
    publicUrl,
  })
}

async function checkStoreAndKms({ store, kms }: ServerOptions): Promise<void> {
  await Promise.all([store.check(), kms.check()])
}

function createHomeProps(options: ServerOptions, startedAt: Date) {
  const { services, store, kms, publicUrl } = options
  return async (): Promise<HomeProps> => ({
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
    services: services.map((service) => ({
      name: service.name,
      title: service.title,
      summary: service.summary,
      href: serviceHref(service, options),
    })),
  })
}
