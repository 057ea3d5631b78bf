/**
 * A service may have a host name of its own. There it is alone, at the root: what a browser keeps
 * apart by origin is then apart from all other services.
 */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { ConfigError } from '@strongroom/kit/config'
import type { AppEnv } from '@strongroom/kit/http/env'
import { headerIn } from '@strongroom/kit/http/node-body'
import type { NodeRoutes } from '@strongroom/kit/http/node-routes'
import type { Service } from '@strongroom/kit/service'
import { parseUrl } from '@strongroom/kit/parse-url'
import type { Settings } from './settings.ts'

/** The origin of a service that does not share that of the server; alone, a service has it anyway. */
export function originOf(
  { originSetting }: Pick<Service, 'originSetting'>,
  options: { settings: Settings; publicUrl: string; atRoot?: boolean },
): string | undefined {
  const { settings, publicUrl, atRoot = false } = options
  if (atRoot || originSetting === undefined) return undefined
  const values: Readonly<Record<string, unknown>> = settings
  const origin = values[originSetting]
  if (typeof origin !== 'string') return undefined
  if (new URL(origin).host === new URL(publicUrl).host) {
    throw new ConfigError([
      `${originSetting} must have another host name than PUBLIC_URL: choose one, or remove it`,
    ])
  }
  return origin
}

/** The ways in which clients and proxies write the host of an origin. */
export function hostsOf(origin: string): string[] {
  const { host, hostname, port, protocol } = new URL(origin)
  const standard = protocol === 'https:' ? '443' : '80'
  return port === '' ? [host, `${hostname}:${standard}`] : [host]
}

type App = Pick<OpenAPIHono<AppEnv>, 'fetch' | 'request'>

/** Answers by the app of the host that a request is for, or else by the main one. */
export function byHost(main: App, others: ReadonlyMap<string, App>): App {
  if (others.size === 0) return { fetch: main.fetch, request: main.request }
  const appOf = (address: string) => others.get(parseUrl(address)?.host ?? '') ?? main
  return {
    fetch: (request, ...more) => appOf(request.url).fetch(request, ...more),
    request: (input, ...more) =>
      appOf(input instanceof Request ? input.url : String(input)).request(input, ...more),
  }
}

const MOST_HOSTS = 100

/** The same for what Node's server answers; a host that is none is for the app to refuse. */
export function nodeByHost(main: NodeRoutes, others: ReadonlyMap<string, NodeRoutes>): NodeRoutes {
  const known = new Map<string, NodeRoutes>()
  return (request, response) => {
    const host = headerIn(request.rawHeaders, 'host')
    if (host === undefined) return false
    let node = known.get(host)
    if (node === undefined) {
      const name = canonicalHost(host)
      if (name === undefined) return false
      node = others.get(name) ?? main
      if (known.size < MOST_HOSTS) known.set(host, node)
    }
    return node(request, response)
  }
}

/** As the host of an address; undefined if it would not be the same there. */
function canonicalHost(host: string): string | undefined {
  const url = parseUrl(`http://${host}/`)
  const isSame = url?.hostname === host.replace(/:\d+$/, '').toLowerCase()
  return isSame ? url?.host : undefined
}
