/** All routes. Loaded with the first request, because of their schemas and the files of the page. */
import { declarePermissions, type OperatorVerifier } from '@strongroom/kit/http/permissions'
import type { ServiceRoutes } from '@strongroom/kit/service'
import { apiTokenRoutes } from './api-tokens/routes.ts'
import { figureRoutes } from './figures/routes.ts'
import type { PageContent } from './page/document.tsx'
import { pageRoutes } from './page/routes.tsx'
import { requestRoutes } from './requests/routes.ts'
import { secretRoutes } from './secrets/routes.ts'

export function sealedRoutes(deps: {
  secrets: Parameters<typeof secretRoutes>[0]
  /** Undefined if requests are off. */
  requests: Parameters<typeof requestRoutes>[0] | undefined
  apiTokens: Parameters<typeof apiTokenRoutes>[0]['apiTokens']
  figures: Omit<Parameters<typeof figureRoutes>[0], 'permit'>
  operators: OperatorVerifier
  page: PageContent
}): ServiceRoutes {
  const { routes, hotRoutes } = secretRoutes(deps.secrets)
  const requests = deps.requests && requestRoutes(deps.requests)
  if (requests) routes.route('/', requests.routes)
  const permit = declarePermissions('Sealed').operator(deps.operators, 'sealed')
  routes.route('/', apiTokenRoutes({ apiTokens: deps.apiTokens, permit }))
  routes.route('/', figureRoutes({ ...deps.figures, permit }))
  routes.route('/', pageRoutes(deps.page))
  return { routes, hotRoutes: [...hotRoutes, ...(requests?.hotRoutes ?? [])] }
}
