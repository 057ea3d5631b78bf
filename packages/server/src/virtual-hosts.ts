/**
 * A service may have a host name of its own, where it is alone at the root: browsers then isolate it
 * from all other services.
 */
import type { IncomingMessage } from 'node:http'
import { invalidConfig } from '@strongroom/kit/config'
import { parseUrl } from '@strongroom/kit/parse-url'
import type { Service } from '@strongroom/kit/service'
import { findHeader } from '@strongroom/platform/read-body'
import type { Settings } from './settings.ts'

/** The own origin of a service; undefined if it shares the server's or runs alone. */
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
    throw invalidConfig([
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

/** Selects the app for the host of a request; undefined for an invalid host. */
export function createHostSelector<T>(
  main: T,
  others: ReadonlyMap<string, T>,
): (host: string) => T | undefined {
  const known = new Map<string, T>()
  return (host) => {
    const before = known.get(host)
    if (before !== undefined) return before
    const name = canonicalHost(host)
    if (name === undefined) return undefined
    const selected = others.get(name) ?? main
    if (known.size < MAX_KNOWN_HOSTS) known.set(host, selected)
    return selected
  }
}

const MAX_KNOWN_HOSTS = 100

/** The host in the form of URLs; undefined if a URL parser would change it. */
function canonicalHost(host: string): string | undefined {
  const url = parseUrl(`http://${host}/`)
  const isSame = url?.hostname === host.replace(/:\d+$/, '').toLowerCase()
  return isSame ? url?.host : undefined
}

/** The host of a request: from an absolute URL, as proxies send it, or from the header. */
export function requestedHost({
  url = '',
  rawHeaders,
}: Pick<IncomingMessage, 'url' | 'rawHeaders'>) {
  const host = url.startsWith('/') ? undefined : parseUrl(url)?.host
  return host ?? findHeader(rawHeaders, 'host')
}

/** Where people find a service: its page, or its part of the API reference. */
export function serviceHref(
  service: Pick<Service, 'name' | 'mount' | 'hasPage' | 'originSetting'>,
  options: Parameters<typeof originOf>[1],
): string {
  if (!service.hasPage) return `/docs/${service.name}`
  const origin = originOf(service, options)
  if (origin !== undefined) return `${origin}/`
  return options.atRoot ? '/' : `${service.mount}/`
}
