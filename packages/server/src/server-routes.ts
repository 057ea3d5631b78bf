/** Routes of the server itself: health, metrics, and what operators do under `/server/v1`. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { createPager } from '@strongroom/kit/cursor'
import type { AppEnv } from '@strongroom/kit/http/env'
import { declarePermissions } from '@strongroom/kit/http/permissions'
import { createOperators } from '@strongroom/kit/operators'
import type { ServiceDeps } from '@strongroom/kit/service'
import { createAuditLog } from '@strongroom/kit/audit-log'
import { auditRoutes } from './audit/routes.ts'
import { healthRoutes } from './health.ts'
import { metricsRoutes } from './metrics-routes.ts'
import { operatorRoutes } from './operators/routes.ts'
import { createOperatorService } from './operators/service.ts'
import { secretRoutes } from './secrets/routes.ts'
import { createSecretService } from './secrets/service.ts'
import type { ServerCapabilities } from './service-deps.ts'

/** Not the name of a service, so an operator that is limited to services has no access. */
const SERVER = 'server'

export function createServerRoutes(
  deps: ServiceDeps & ServerCapabilities & { check: () => Promise<void> },
): OpenAPIHono<AppEnv> {
  const { metrics, secrets, kmsKey, check } = deps
  const auditLog = createAuditLog(deps)
  const permit = declarePermissions('Server').operator(createOperators(deps), SERVER)
  const routes = new OpenAPIHono<AppEnv>()
  routes.openAPIRegistry.registerComponent('securitySchemes', 'operator', {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an operator: `strongroom operator add` creates one',
  })
  const all = [
    healthRoutes({ check }),
    metricsRoutes({ metrics, permit }),
    operatorRoutes({ permit, operators: createOperatorService({ ...deps, auditLog }) }),
    auditRoutes({ permit, pager: createPager(secrets, 'server-cursors'), auditLog }),
    secretRoutes({ permit, secrets: createSecretService({ ...deps, key: kmsKey, auditLog }) }),
  ]
  for (const each of all) routes.route('/', each)
  return routes
}
