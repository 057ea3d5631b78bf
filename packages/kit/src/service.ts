/** The interface of a service to the server and the CLI, which compose services from a list. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Clock } from '@strongroom/platform/clock'
import type { ConfigTable } from './config.ts'
import type { Db } from './db.ts'
import type { ErrorFactory } from './errors.ts'
import type { AppEnv } from './http/env.ts'
import type { HotRoute } from './http/hot-routes.ts'
import type { JobKind } from './jobs/kind.ts'
import type { Log } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { OwnAddresses } from './safe-fetch/own-addresses.ts'
import type { ServerSecrets } from './server-secrets.ts'
import type { ServiceStatus } from './service-status.ts'
import type { Table } from './table.ts'

export interface ServiceDeps {
  db: Db
  clock: Clock
  log: Log
  metrics: Metrics
  secrets: ServerSecrets
  /** The public URL of the server, without a trailing slash. */
  publicUrl: string
  /** What requests to addresses that users choose must not reach. */
  ownAddresses?: OwnAddresses
  /**
   * Whether only this machine can reach the server. Undefined if that is unknown, as in a worker: the
   * server may have been started with other settings.
   */
  isLocal?: boolean
  /**
   * Whether the process runs between requests; true by default. Otherwise, as on Lambda, no loop starts,
   * and `flush` is called before each response is sent.
   */
  runsContinuously?: boolean
  /** Whether admins need a second factor to use a session. */
  requiresSecondFactor?: boolean
  /** The values of all settings; a service declares those it reads in its `Needs`. */
  config: object
}

/** `Needs` is what a service gets in addition: its settings, and capabilities of other services. */
export interface Service<Needs extends object = object> {
  /** As in paths, labels and error codes: `form-bridge`. */
  name: string
  /** For people: `Form-Bridge`. */
  title: string
  /** What its users do with it, as one sentence. */
  summary: string
  /** Where it is mounted in a server with all services: `/form-bridge`. */
  mount: string
  tables: readonly Table[]
  errors: Pick<ErrorFactory, 'catalogue'>
  /** Settings in addition to the server's. */
  settings?: ConfigTable
  /** Whether it has a page at its mount point. */
  hasPage?: boolean
  /** The setting that gives it its own host name, if it can have one. */
  originSetting?: string
  start(deps: ServiceDeps & Needs): RunningService | Promise<RunningService>
  /** Runs the background work of the service without its routes: `strongroom worker`. */
  startWorker?(deps: ServiceDeps & Needs): Promise<RunningWorker>
  /** The jobs that operators can start; servers and workers run them. */
  createJobKinds?(deps: ServiceDeps & Needs): Promise<readonly JobKind[]>
}

export interface RunningWorker {
  /** Finishes running work. */
  close(): Promise<void>
}

/** What a service serves over HTTP. */
export interface ServiceRoutes {
  routes: OpenAPIHono<AppEnv>
  /**
   * Routes at the root wherever the service is mounted, such as addresses that other systems have
   * stored. Each needs its own path: no middleware for everything.
   */
  rootRoutes?: OpenAPIHono<AppEnv>
  /** Frequent routes that may run without the app; `routes` or `rootRoutes` has them too. */
  hotRoutes?: readonly HotRoute[]
}

export interface RunningService {
  /**
   * Loads and builds the routes with their schemas; called once, when the first request needs them,
   * because it would be half of the work of a start.
   */
  loadRoutes(): Promise<ServiceRoutes>
  /** What the operator should know about how it was started, for the banner. */
  notice?: string | undefined
  /** What operators should know now. Called often, so what is expensive is cached. */
  status?(): Promise<ServiceStatus>
  /** Stores what is only in memory and finishes what runs after a response, without ending the service. */
  flush?(): Promise<void>
  /** Ends endless responses, such as streams; called when the server begins to stop. */
  endStreams?(): void
  /** Ends background work; called when no request is running any more. */
  close?(): Promise<void>
}
