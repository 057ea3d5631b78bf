/** Mounts what a service serves in the app. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { RunningService, Service, ServiceDeps, ServiceRoutes } from '../service.ts'
import type { AppEnv } from './env.ts'
import { publicRoute, requirePermissions } from './permissions.ts'

/** Starts a service and mounts its routes. */
export async function mountService<Needs extends object>(
  app: OpenAPIHono<AppEnv>,
  service: Service<Needs>,
  deps: ServiceDeps & Needs,
  at: string = service.mount,
): Promise<RunningService & ServiceRoutes> {
  const running = await service.start({ ...deps, log: deps.log.child({ service: service.name }) })
  try {
    const loaded = await running.loadRoutes()
    mountRoutes(app, service, loaded, at)
    return { ...running, ...loaded }
  } catch (error) {
    await running.close?.()
    throw error
  }
}

/** Mounts the routes of a service and sets its name in logs and metrics. */
export function mountRoutes(
  app: OpenAPIHono<AppEnv>,
  { name, hasPage = false }: Pick<Service, 'name' | 'hasPage'>,
  { routes, rootRoutes }: ServiceRoutes,
  at: string,
): void {
  requirePermissions(routes, name)
  if (rootRoutes) requirePermissions(rootRoutes, name)
  const named: MiddlewareHandler<AppEnv> = async (c, next) => {
    c.get('call').enterService(name)
    await next()
  }
  app.use(at === '/' ? '*' : `${at}/*`, named)
  if (hasPage && at !== '/') {
    // A page refers to its files by relative URLs, so its own URL ends with a slash.
    app.route(`${at}/`, routes)
    app.get(at, publicRoute, (c) => c.redirect(`${at.slice(at.lastIndexOf('/') + 1)}/`, 301))
  } else {
    app.route(at, routes)
  }
  if (!rootRoutes) return
  const paths = new Set(rootRoutes.routes.map(({ path }) => path))
  if (paths.has('/*')) throw new TypeError(`Root routes of ${name} must not take every path`)
  for (const path of paths) app.use(path, named)
  app.route('/', rootRoutes)
}
