/** One service as an app of its own, mounted where a server with all services has it. */
import { type App, createApp } from '@strongroom/kit/http/app'
import { createCapacity } from '@strongroom/kit/http/capacity'
import { createHotMatcher, type HotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { requestError } from '@strongroom/kit/http/errors'
import { publicRoute } from '@strongroom/kit/http/permissions'
import type { HttpResponse, Route } from '@strongroom/kit/http/request'
import { mountRoutes, mountService } from '@strongroom/kit/http/mount-service'
import type { Service } from '@strongroom/kit/service'
import { capacityLimits } from '@strongroom/server/own-settings'
import { createServiceDeps, type ServerCapabilities } from '@strongroom/server/service-deps'
import { createHostSelector, hostsOf, originOf } from '@strongroom/server/virtual-hosts'
import type { LambdaRequest } from './http-event.ts'
import { isServedBy, type RouteKey } from './routes.ts'
import { requirePublicUrl, type Runtime } from './runtime.ts'

export interface FunctionApp extends Pick<Runtime, 'resume' | 'rest'> {
  handle(request: LambdaRequest): Promise<HttpResponse | Response>
  /** Finishes what responses left to do. */
  flush(): Promise<void>
  endStreams(): void
}

/** What is served at one host. */
interface Site {
  app: App
  findHotRoute: HotMatcher
  isServed(method: string, path: string): boolean
}

export async function createServiceApp(
  service: Service<ServerCapabilities>,
  keys: readonly RouteKey[],
  runtime: Runtime,
): Promise<FunctionApp> {
  requirePublicUrl(runtime)
  const { settings, publicUrl, log, metrics } = runtime
  const trustedProxies = settings.STRONGROOM_TRUSTED_PROXIES
  const capacity = createCapacity({ limits: capacityLimits(settings), trustedProxies })
  const http = { log, metrics, publicUrl, trustedProxies, capacity }
  const deps = createServiceDeps({ ...runtime, services: [service] })
  const origin = originOf(service, runtime)
  const app = createApp(http)
  if (origin !== undefined)
    app.get(`${service.mount}/`, publicRoute, (c) => c.redirect(`${origin}/`))
  const running = await mountService(app, service, deps)
  const { name, mount } = service
  const main: Site = {
    app,
    findHotRoute: createHotMatcher(mountHotRoutes(running, name, mount)),
    isServed: (method, path) => isServedBy(keys, method, path),
  }
  const ownHosts = new Map<string, Site>()
  if (origin !== undefined) {
    const alone = createApp({ ...http, publicUrl: origin })
    mountRoutes(alone, service, running, '/')
    const findHotRoute = createHotMatcher(mountHotRoutes(running, name, '/'))
    for (const host of hostsOf(origin)) {
      ownHosts.set(host, { app: alone, findHotRoute, isServed: () => true })
    }
  }
  const select = createHostSelector(main, ownHosts)

  return {
    handle(request) {
      const site = select(request.host) ?? main
      const { harness, mainRoute } = site.app
      if (!site.isServed(request.method, request.path)) return harness(elsewhere, request)
      const hot = site.findHotRoute(request.method, request.target)
      return hot ? harness(hot, request) : harness(mainRoute, request)
    },
    resume: runtime.resume,
    rest: runtime.rest,
    flush: async () => running.flush?.(),
    endStreams: () => running.endStreams?.(),
  }
}

/** Another function handles it, so this one has no permission to. */
const elsewhere: Route = {
  service: 'server',
  pattern: 'unmatched',
  handle: async () => {
    throw requestError('not_found')
  },
}
