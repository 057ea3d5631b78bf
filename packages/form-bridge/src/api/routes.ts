/** All routes, under `/v1`. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { declaredOnly } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { agencyRoutes } from './agency-routes.ts'
import type { ApiDeps } from './deps.ts'
import { handshakeRoutes } from './handshake-routes.ts'
import { operatorAgencyRoutes } from './operator-agency-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { operatorSiteRoutes } from './operator-site-routes.ts'
import { describeSecurity } from './permissions.ts'
import { releaseRoutes } from './release-routes.ts'
import { siteRoutes } from './site-routes.ts'
import { updateRoutes } from './update-routes.ts'

export function formBridgeRoutes(deps: ApiDeps): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  describeSecurity(routes)
  routes.use('/v1/*', declaredOnly)
  const own = [
    handshakeRoutes,
    siteRoutes,
    // Before the updates: a plugin's versions are no version of it.
    releaseRoutes,
    updateRoutes,
    agencyRoutes,
    operatorSiteRoutes,
    operatorAgencyRoutes,
    operatorRoutes,
  ]
  for (const make of own) routes.route('/', make(deps))
  return routes
}
