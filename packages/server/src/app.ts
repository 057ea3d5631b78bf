/** The whole server as one app: services where they are mounted, and what stands around them. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/kit/clock'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import {
  mountedRoutes,
  nodeRoutes,
  type NodeRoutes,
  type ServiceRoute,
} from '@strongroom/kit/http/node-routes'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { mountService, type RunningService, type Service } from '@strongroom/kit/service'
import type { Abilities } from './abilities.ts'
import { answers, healthRoutes } from './health.ts'
import type { OpenKms } from './kms.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { byHost, hostsOf, nodeByHost, originOf } from './own-origin.ts'
import type { HomeProps } from './pages/home.tsx'
import { notFoundPage } from './pages/not-found.tsx'
import { pageRoutes } from './pages/routes.tsx'
import { serviceDeps } from './service-deps.ts'
import { serviceHref } from './service-href.ts'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'
import { version } from './version.ts'

export interface ServerOptions {
  services: readonly Service<Abilities>[]
  /** Mounts the only service at the root, in place of the home page. */
  atRoot?: boolean
  store: Store
  kms: Omit<OpenKms, 'close'>
  settings: Settings
  publicUrl: string
  log: Log
  clock: Clock
  metrics: Metrics
}

export interface ServerApp {
  fetch: OpenAPIHono<AppEnv>['fetch']
  request: OpenAPIHono<AppEnv>['request']
  /** What Node's server need not ask the app for. */
  node: NodeRoutes
  /** Ends the answers of services that would go on for ever. */
  endStreams(): void
  /** Ends what the services run beside their routes. */
  close(): Promise<void>
}

export async function createServerApp(options: ServerOptions): Promise<ServerApp> {
  const { services, atRoot = false, store, settings, publicUrl } = options
  const { log, clock, metrics } = options
  const trustedProxies = settings.STRONGROOM_TRUSTED_PROXIES
  const http = { log, metrics, publicUrl, trustedProxies }
  const app = createApp({ ...http, notFoundPage: notFoundPage(version) })
  app.route('/', healthRoutes({ check: () => checkBoth(options) }))
  app.route('/', metricsRoutes(metrics, createOperators({ db: store.db, clock })))

  const deps = serviceDeps(options)
  const running: RunningService[] = []
  const ownHosts = new Map<string, OpenAPIHono<AppEnv>>()
  const ownNodes = new Map<string, NodeRoutes>()
  const plain: ServiceRoute[] = []
  const close = async () => {
    for (const service of running.toReversed()) await service.close?.()
  }
  try {
    for (const service of services) {
      const origin = originOf(service, options)
      // The page is at its own host alone; a fragment of the address goes along.
      if (origin !== undefined) app.get(`${service.mount}/`, (c) => c.redirect(`${origin}/`))
      const at = atRoot ? '/' : service.mount
      const started = await mountService(app, service, deps, at)
      running.push(started)
      plain.push(...mountedRoutes(started, service.name, at))
      if (origin === undefined) continue
      const own = { ...http, publicUrl: origin }
      const { title, hasPage = false } = service
      const alone = createApp({ ...own, notFoundPage: notFoundPage(version, { title, hasPage }) })
      await mountService(alone, { ...service, start: () => started }, deps, '/')
      const aloneByNode = nodeRoutes(mountedRoutes(started, service.name, '/'), own)
      for (const host of hostsOf(origin)) {
        ownHosts.set(host, alone)
        ownNodes.set(host, aloneByNode)
      }
    }
  } catch (error) {
    await close()
    throw error
  }

  // Made once, and not before somebody asks: it is a sixth of the work of a start.
  let made: ReturnType<typeof describe> | undefined
  const document = () => (made ??= describe(app, publicUrl))
  const home = homeOf(options, new Date(clock.now()))
  app.route('/', pageRoutes({ document, home }))
  const endStreams = () => {
    for (const service of running) service.endStreams?.()
  }
  return {
    ...byHost(app, ownHosts),
    node: nodeByHost(nodeRoutes(plain, http), ownNodes),
    endStreams,
    close,
  }
}

function describe(app: OpenAPIHono<AppEnv>, publicUrl: string) {
  return openApiDocument(app, {
    title: 'Strongroom',
    description:
      'Requests and answers are JSON. Programs decide by the code of an error; its message is for people.',
    version,
    publicUrl,
  })
}

async function checkBoth({ store, kms }: ServerOptions): Promise<void> {
  await Promise.all([store.check(), kms.check()])
}

function homeOf(options: ServerOptions, startedAt: Date) {
  const { services, store, kms, publicUrl } = options
  return async (): Promise<HomeProps> => ({
    version,
    publicUrl,
    startedAt,
    store: { kind: store.kind, label: store.label, detail: store.detail },
    kms: { label: kms.label, detail: kms.detail },
    ready: await answers(() => checkBoth(options)).then(
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
