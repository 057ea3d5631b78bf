/** The handlers of functions that serve a part of one service. */
import type { Service } from '@strongroom/kit/service'
import type { ServerCapabilities } from '@strongroom/server/service-deps'
import { type HttpHandler, httpHandler, streamingHandler } from './http-handler.ts'
import { type HttpFunctionName, routeKeys } from './routes.ts'
import { openRuntime } from './runtime.ts'
import { createServiceApp } from './service-app.ts'

export function serviceHandler(
  name: HttpFunctionName,
  service: Service<ServerCapabilities>,
): HttpHandler {
  return httpHandler(() => openServiceApp(name, service))
}

export function streamingServiceHandler(
  name: HttpFunctionName,
  service: Service<ServerCapabilities>,
): unknown {
  return streamingHandler(() => openServiceApp(name, service))
}

async function openServiceApp(name: HttpFunctionName, service: Service<ServerCapabilities>) {
  return createServiceApp(service, routeKeys[name], await openRuntime([service]))
}
