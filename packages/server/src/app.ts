/** The whole server as one app: services where they are mounted, and what stands around them. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/kit/clock'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { openApiDocument } from '@strongroom/kit/http/openapi'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { mountService, type Service } from '@strongroom/kit/service'
import { healthRoutes } from './health.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { pageRoutes } from './pages/routes.tsx'
import type { Settings } from './settings.ts'
import type { Store } from './store.ts'
import { version } from './version.ts'

export interface ServerOptions {
  services: readonly Service[]
  /** Mounts the only service at the root, in place of the home page. */
  atRoot: boolean
  store: Store
  settings: Settings
  publicUrl: string
  log: Log
  clock: Clock
  metrics: Metrics
}

export function createServerApp(options: ServerOptions): OpenAPIHono<AppEnv> {
  const { services, atRoot, store, settings, publicUrl, log, clock, metrics } = options
  const app = createApp({
    log,
    metrics,
    publicUrl,
    trustedProxies: settings.STRONGROOM_TRUSTED_PROXIES,
  })
  const operators = createOperators({ db: store.db, clock })
  app.route('/', healthRoutes({ check: () => store.check() }))
  app.route('/', metricsRoutes(metrics, operators))

  const deps = { db: store.db, clock, log, metrics, config: settings }
  for (const service of services) {
    mountService(app, service, deps, atRoot ? '/' : service.mount)
  }

  // Nothing is mounted later, so the document is made once.
  const document = openApiDocument(app, { title: 'Strongroom', version, publicUrl })
  app.get('/openapi.json', (c) => c.json(document))

  const startedAt = new Date(clock.now())
  const home = async () => ({
    version,
    publicUrl,
    startedAt,
    store: { kind: store.kind, label: store.label, detail: store.detail },
    ready: await store.check().then(
      () => true,
      () => false,
    ),
    metricsPath: '/metrics',
    services: services.map(({ name, title, summary, mount }) => ({
      name,
      title,
      summary,
      href: `${mount}/`,
    })),
  })
  app.route('/', pageRoutes({ document: () => document, home }))
  return app
}
