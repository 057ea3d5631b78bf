/** What the server serves, by host. Loaded with the first request that needs more than a health check. */
import type { RequestListener } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import type { OpenAPIHono } from '@hono/zod-openapi'
import { consoleRoutes } from '@strongroom/console/routes'
import type { Context } from 'hono'
import { type App, createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { HarnessOptions } from '@strongroom/kit/http/harness'
import {
  createHotMatcher,
  mountHotRoutes,
  type MountedHotRoute,
} from '@strongroom/kit/http/hot-routes'
import { mountRoutes } from '@strongroom/kit/http/mount-service'
import { nodeListener } from '@strongroom/kit/http/node'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import { publicRoute, requirePermissions } from '@strongroom/kit/http/permissions'
import { authenticateOperator, sessionCookie } from '@strongroom/kit/http/operator-authentication'
import { type Operators, requireOperatorRole } from '@strongroom/kit/operators'
import { parseUrl } from '@strongroom/kit/parse-url'
import type { RunningService, Service } from '@strongroom/kit/service'
import type { ServerOptions } from './app.ts'
import { checkWithin, SERVER } from './health.ts'
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
import { createServerRoutes } from './server-routes.ts'
import type { ServerCapabilities } from './service-deps.ts'
import { version } from './version.ts'

export interface Sites {
  fetch: OpenAPIHono<AppEnv>['fetch']
  request: OpenAPIHono<AppEnv>['request']
  listener: RequestListener
}

export async function loadSites(
  options: ServerOptions & {
    http: HarnessOptions
    started: readonly { service: Service<ServerCapabilities>; running: RunningService }[]
    startedAt: number
    check: () => Promise<void>
  } & Omit<Parameters<typeof createServerRoutes>[0], 'about'>,
): Promise<Sites> {
  const { http, started, operators, status, check, startedAt } = options
  const { services, atRoot = false, publicUrl, store, kms } = options
  const app = createApp({ ...http, notFoundPage: notFoundPage(version) })
  const about = { version, startedAt, address: publicUrl, store, kms }
  app.route('/', createServerRoutes({ ...options, about }))
  const hot = mountHotRoutes({ hotRoutes: options.health }, SERVER, '/')
  const ownHosts = new Map<string, Site>()
  for (const { service, running } of started) {
    // Lets hot routes and background work run between two services.
    await setImmediate()
    const loaded = await running.loadRoutes()
    const origin = originOf(service, options)
    // The page is only at its own host; browsers keep the fragment of the address.
    if (origin !== undefined)
      app.get(`${service.mount}/`, publicRoute, (c) => c.redirect(`${origin}/`))
    const at = atRoot ? '/' : service.mount
    mountRoutes(app, service, loaded, at)
    hot.push(...mountHotRoutes(loaded, service.name, at))
    if (origin === undefined) continue
    const own = { ...http, publicUrl: origin }
    const { title, hasPage = false } = service
    const alone = createApp({ ...own, notFoundPage: notFoundPage(version, { title, hasPage }) })
    mountRoutes(alone, service, loaded, '/')
    const site = createSite(alone, mountHotRoutes(loaded, service.name, '/'))
    for (const host of hostsOf(origin)) ownHosts.set(host, site)
  }
  // Created on the first request for it: it takes as long as all routes.
  let cached: ReturnType<typeof describe> | undefined
  const document = () => (cached ??= describe(app, publicUrl))
  const home = createHomeProps({ ...options, check }, new Date(startedAt), async (c) =>
    (await canSeeServer(c, operators)) ? (await status.read()).problems : undefined,
  )
  app.route('/', consoleRoutes({ atRoot: atRoot ? services[0]?.name : undefined }))
  app.route('/', pageRoutes({ document, home, services }))
  requirePermissions(app, 'the server')
  return servedByHost(createSite(app, hot), ownHosts)
}

/** What is served at one host. */
interface Site {
  app: App
  listener: RequestListener
}

function createSite(app: App, hotRoutes: readonly MountedHotRoute[]): Site {
  return { app, listener: nodeListener(app, createHotMatcher(hotRoutes)) }
}

function servedByHost(main: Site, others: ReadonlyMap<string, Site>): Sites {
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
  options: ServerOptions & { check: () => Promise<void> },
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
    ready: await checkWithin(options.check).then(
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
