/** The management API under `/v1`. */
import { OpenAPIHono } from '@hono/zod-openapi'
import { declaredOnly } from '@strongroom/kit/http/declared-permission'
import type { AppEnv } from '@strongroom/kit/http/env'
import { accountRoutes } from './account-routes.ts'
import { alertRoutes } from './alert-routes.ts'
import { connectionRoutes } from './connection-routes.ts'
import { connectionSecretRoutes } from './connection-secret-routes.ts'
import type { RotatingCursors } from './cursors.ts'
import type { ApiDeps } from './deps.ts'
import { keyRoutes } from './key-routes.ts'
import { mailRoutes } from './mail-routes.ts'
import { operatorRoutes } from './operator-routes.ts'
import { describeSecurity } from './permissions.ts'
import { sessionRoutes } from './session-routes.ts'
import { signInRoutes } from './sign-in-routes.ts'
import { sourceRoutes } from './source-routes.ts'
import { trialRoutes } from './trial-routes.ts'

/** With those that other parts of the service add, made with the same permissions. */
export function apiRoutes(
  deps: ApiDeps & { cursors: RotatingCursors },
  others: readonly OpenAPIHono<AppEnv>[] = [],
): OpenAPIHono<AppEnv> {
  const routes = new OpenAPIHono<AppEnv>()
  describeSecurity(routes)
  routes.use('/v1/*', declaredOnly, async (_, next) => {
    await deps.cursors.refresh()
    await next()
  })
  const own = [
    sessionRoutes,
    accountRoutes,
    sourceRoutes,
    connectionRoutes,
    connectionSecretRoutes,
    trialRoutes,
    keyRoutes,
    alertRoutes,
    mailRoutes,
    operatorRoutes,
    signInRoutes,
  ]
  for (const make of own) routes.route('/', make(deps))
  for (const other of others) routes.route('/', other)
  return routes
}
