/** What a service is to the server and the command line, which compose services from a list. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Clock } from './clock.ts'
import type { ConfigTable } from './config.ts'
import type { Db } from './db.ts'
import type { ErrorFactory } from './errors.ts'
import type { AppEnv } from './http/env.ts'
import type { PlainRoute } from './http/plain-route.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { ServerSecrets } from './server-secrets.ts'
import type { Table } from './table.ts'

export interface ServiceDeps {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  secrets: ServerSecrets
  /** Where people reach the server, without a slash at its end. */
  publicUrl: string
  /** The values of all settings; a service names the ones it reads in its `Needs`. */
  config: object
}

/** `Needs` is what a service is given beyond that: its settings, and abilities of other services. */
export interface Service<Needs extends object = object> {
  /** As in paths, labels and error codes: `form-bridge`. */
  name: string
  /** As people write it: `Form-Bridge`. */
  title: string
  /** One sentence: what its users do with it. */
  summary: string
  /** Where it is mounted in a server with all services: `/form-bridge`. */
  mount: string
  tables: readonly Table[]
  errors: Pick<ErrorFactory, 'catalogue'>
  /** The settings it adds to the server's. */
  settings?: ConfigTable
  /** Whether it has a page at its mount point, for people to open. */
  hasPage?: boolean
  /** Which of its settings gives it a host name of its own, if it can have one. */
  originSetting?: string
  start(deps: ServiceDeps & Needs): RunningService | Promise<RunningService>
  /** Runs what the service does beside its routes, alone: `strongroom worker`. */
  startWorker?(deps: ServiceDeps & Needs): Promise<RunningWorker>
}

export interface RunningWorker {
  /** Finishes what has begun. */
  close(): Promise<void>
}

export interface RunningService {
  routes: OpenAPIHono<AppEnv>
  /**
   * Routes that stand at the root wherever the service is mounted, such as addresses that other
   * systems keep. Each has a path of its own: no middleware for everything.
   */
  rootRoutes?: OpenAPIHono<AppEnv>
  /** Those of the routes that Node's server may answer without the app, because they are asked so often. */
  plainRoutes?: readonly PlainRoute[]
  /** Those of the root routes. */
  plainRootRoutes?: readonly PlainRoute[]
  /** Ends answers that would go on for ever, such as streams; called when the server begins to stop. */
  endStreams?(): void
  /** Ends what runs beside the routes, such as workers; called when no request is running any more. */
  close?(): Promise<void>
}

/** Starts a service, mounts it, by default where it says, and names it in logs and metrics. */
export async function mountService<Needs extends object>(
  app: OpenAPIHono<AppEnv>,
  service: Service<Needs>,
  deps: ServiceDeps & Needs,
  at: string = service.mount,
): Promise<RunningService> {
  const { name } = service
  const running = await service.start({ ...deps, log: deps.log.child({ service: name }) })
  const named: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.set('service', name)
    await next()
  }
  app.use(at === '/' ? '*' : `${at}/*`, named)
  if (service.hasPage && at !== '/') {
    // A page names its files relative to itself, so its address ends with a slash.
    app.route(`${at}/`, running.routes)
    app.get(at, (c) => c.redirect(`${at.slice(at.lastIndexOf('/') + 1)}/`, 301))
  } else {
    app.route(at, running.routes)
  }
  if (running.rootRoutes) {
    const paths = new Set(running.rootRoutes.routes.map(({ path }) => path))
    if (paths.has('/*')) throw new TypeError(`Root routes of ${name} must not take every path`)
    for (const path of paths) app.use(path, named)
    app.route('/', running.rootRoutes)
  }
  return running
}
