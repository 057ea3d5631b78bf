/** Routes of the server itself: health, metrics, and what operators do under `/server/v1`. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { createPager } from '@strongroom/kit/cursor'
import { createClientLimit } from '@strongroom/kit/http/client-limit'
import type { AppEnv } from '@strongroom/kit/http/env'
import type { HotRoute } from '@strongroom/kit/http/hot-routes'
import { declarePermissions } from '@strongroom/kit/http/permissions'
import type { Operators } from '@strongroom/kit/operators'
import type { Service, ServiceDeps } from '@strongroom/kit/service'
import { createAuditLog } from '@strongroom/kit/audit-log'
import type { JobKind } from '@strongroom/kit/jobs/kind'
import type { JobRunner } from '@strongroom/kit/jobs/runner'
import { auditRoutes } from './audit/routes.ts'
import { figuresRoutes } from './figures/routes.ts'
import type { FiguresService } from './figures/service.ts'
import { SERVER } from './health.ts'
import { healthRoutes } from './health-routes.ts'
import type { OpenKms } from './kms/open.ts'
import { kmsRoutes } from './kms/routes.ts'
import { jobRoutes } from './jobs/routes.ts'
import { createJobService } from './jobs/service.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { operatorRoutes } from './operators/routes.ts'
import { createOperatorService } from './operators/service.ts'
import { secretRoutes } from './secrets/routes.ts'
import { createSecretService } from './secrets/service.ts'
import type { ServerCapabilities } from './service-deps.ts'
import { aboutRoutes } from './sessions/about.ts'
import { createSessionAdmin } from './sessions/admin.ts'
import { sessionRoutes } from './sessions/routes.ts'
import { createOperatorFactors } from './sessions/second-factors.ts'
import { createSessionService } from './sessions/service.ts'
import { createSignIns } from './sessions/sign-ins.ts'
import { type Settings, settings as allSettings } from './settings.ts'
import { settingsRoutes } from './settings-routes.ts'
import { statusRoutes } from './status/routes.ts'
import type { StatusService } from './status/service.ts'
import type { AboutServer } from './status/view.ts'

/** Failed sign-ins and verifications of one network. */
const MAX_FAILURES_PER_MINUTE = 20

export function createServerRoutes(
  deps: ServiceDeps &
    ServerCapabilities & {
      operators: Operators
      health: readonly HotRoute[]
      figures: FiguresService
      status: StatusService
      about: AboutServer
      settings: Settings
      kms: Omit<OpenKms, 'close'>
      services: readonly Pick<Service, 'name' | 'title' | 'settings'>[]
      jobs: Pick<JobRunner, 'wake'>
      jobKinds: readonly JobKind[]
    },
): OpenAPIHono<AppEnv> {
  const { clock, metrics, secrets, kmsKey, publicUrl, services } = deps
  const { health, figures, status, about, jobKinds } = deps
  const auditLog = createAuditLog(deps)
  const { operators } = deps
  const declare = declarePermissions('Server')
  const permit = declare.operator(operators, SERVER)
  const pager = createPager(secrets, 'server-cursors')
  const operatorService = createOperatorService({ ...deps, auditLog })
  const factors = createOperatorFactors({ ...deps, auditLog, operators })
  const signIns = createSignIns(deps)
  const admin = createSessionAdmin({ ...deps, auditLog, operators })
  const sessions = createSessionService({ ...deps, auditLog, operators, factors, signIns, admin })
  const routes = new OpenAPIHono<AppEnv>()
  routes.openAPIRegistry.registerComponent('securitySchemes', 'operator', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an operator: `strongroom operator add` creates one',
  })
  routes.openAPIRegistry.registerComponent('securitySchemes', 'operatorSession', {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-strongroom-session',
    description: 'The session of an operator in the console; `POST /server/v1/session` begins one',
  })
  const all = [
    healthRoutes(health),
    metricsRoutes({ metrics, permit }),
    figuresRoutes({ permit, figures }),
    statusRoutes({ permit, status, about }),
    kmsRoutes({ ...deps, permit }),
    settingsRoutes({
      permit,
      current: () => allSettings.current(deps.settings),
      serviceOf: (name) =>
        deps.services.find(({ settings = {} }) => Object.hasOwn(settings, name))?.name,
    }),
    aboutRoutes({ ...deps, services, needsAdmin: operatorService.needsAdmin }),
    sessionRoutes({
      permit: declare.operatorSelf(operators),
      operators,
      sessions,
      admin,
      factors,
      limit: createClientLimit({ clock, limit: MAX_FAILURES_PER_MINUTE }),
      publicUrl,
    }),
    operatorRoutes({ permit, operators: operatorService, admin, publicUrl }),
    auditRoutes({ permit, pager, auditLog }),
    jobRoutes({
      permit: declare.operator(operators),
      pager,
      jobs: createJobService({ ...deps, auditLog, kinds: jobKinds, runner: deps.jobs }),
      kinds: jobKinds,
    }),
    secretRoutes({ permit, secrets: createSecretService({ ...deps, key: kmsKey, auditLog }) }),
  ]
  for (const each of all) routes.route('/', each)
  return routes
}
