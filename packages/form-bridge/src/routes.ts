/** All routes, under `/v1`. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { operatorAgencyRoutes } from './agencies/operator-routes.ts'
import { operatorTokenRoutes } from './agencies/operator-token-routes.ts'
import { agencyRoutes } from './agencies/routes.ts'
import { indexRoutes } from './indexes/routes.ts'
import { limitRoutes } from './limits/routes.ts'
import { createPermissions, describeSecurity } from './permissions.ts'
import { operatorRegistrationRoutes } from './registrations/operator-routes.ts'
import { registrationRoutes } from './registrations/routes.ts'
import { releaseRoutes } from './releases/routes.ts'
import { securityRoutes } from './security/routes.ts'
import { operatorSiteRoutes } from './sites/operator-routes.ts'
import { siteRoutes } from './sites/routes.ts'
import { submissionRoutes } from './submissions/routes.ts'
import { adoptionRoutes, updateRoutes } from './updates/routes.ts'
import { validationRoutes } from './validations/routes.ts'

type RouteDeps = Parameters<typeof createPermissions>[0] & Omit<PartDeps, 'permit'>

type PartDeps = Parameters<typeof registrationRoutes>[0] &
  Parameters<typeof validationRoutes>[0] &
  Parameters<typeof siteRoutes>[0] &
  Parameters<typeof submissionRoutes>[0] &
  Parameters<typeof releaseRoutes>[0] &
  Parameters<typeof updateRoutes>[0] &
  Parameters<typeof agencyRoutes>[0] &
  Parameters<typeof operatorSiteRoutes>[0] &
  Parameters<typeof operatorAgencyRoutes>[0] &
  Parameters<typeof operatorRegistrationRoutes>[0] &
  Parameters<typeof securityRoutes>[0] &
  Parameters<typeof adoptionRoutes>[0] &
  Parameters<typeof limitRoutes>[0] &
  Parameters<typeof indexRoutes>[0]

export function formBridgeRoutes(of: RouteDeps): OpenAPIHono<AppEnv> {
  const deps = { ...of, permit: createPermissions(of) }
  const routes = new OpenAPIHono<AppEnv>()
  describeSecurity(routes)
  const all = [
    registrationRoutes(deps),
    validationRoutes(deps),
    siteRoutes(deps),
    submissionRoutes(deps),
    // Before the updates: `/plugins/{slug}/versions` must not match `/plugins/{slug}/{version}`.
    releaseRoutes(deps),
    updateRoutes(deps),
    agencyRoutes(deps),
    operatorSiteRoutes(deps),
    operatorAgencyRoutes(deps),
    operatorTokenRoutes(deps),
    operatorRegistrationRoutes(deps),
    securityRoutes(deps),
    adoptionRoutes(deps),
    limitRoutes(deps),
    indexRoutes(deps),
  ]
  for (const each of all) routes.route('/', each)
  return routes
}
