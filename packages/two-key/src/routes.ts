/** All routes. */
import { OpenAPIHono } from '@hono/zod-openapi'
import type { AppEnv } from '@strongroom/kit/http/env'
import { declarePermissions, type OperatorVerifier } from '@strongroom/kit/http/permissions'
import { appRoutes } from './apps/routes.ts'
import { installationRoutes } from './installations/routes.ts'
import { requestRoutes } from './requests/routes.ts'
import type { RequestService } from './requests/service.ts'
import { tokenRoutes } from './tokens/routes.ts'

type PartDeps = Parameters<typeof installationRoutes>[0] &
  Parameters<typeof appRoutes>[0] &
  Parameters<typeof tokenRoutes>[0]

export function twoKeyRoutes(
  of: Omit<PartDeps, 'permit'> & { requests: RequestService; operators: OperatorVerifier },
): OpenAPIHono<AppEnv> {
  const permit = declarePermissions('Two-key').operator(of.operators, 'two-key')
  const deps = { ...of, permit }
  return new OpenAPIHono<AppEnv>()
    .route('/', requestRoutes(of.requests))
    .route('/', installationRoutes(deps))
    .route('/', appRoutes(deps))
    .route('/', tokenRoutes(deps))
}
