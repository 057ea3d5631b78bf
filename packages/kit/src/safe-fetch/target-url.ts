/**
 * The check of a URL's text, when it is configured and again before each request.
 *
 * It gives friendly errors early and settles scheme, port and names. It is not the defence against
 * names that lead inside: that is guarded-connector.ts, which sees the addresses.
 */
import { isIP } from 'node:net'
import { SafeFetchError } from './error.ts'
import type { AddressPolicy } from './public-address.ts'

/** `web`: 80, 443, 8080 and 8443; `unprivileged`: these and everything from 1024 up; or a list. */
export type PortPolicy = 'web' | 'unprivileged' | readonly number[]

export interface TargetPolicy {
  permits: AddressPolicy
  allowHttp: boolean
  /** Single labels and names like `app.internal`, for operators whose targets are next door. */
  allowLocalNames: boolean
  ports: PortPolicy
}

const webPorts: readonly number[] = [80, 443, 8080, 8443]

// RFC 6761, RFC 6762, RFC 8375, and what ICANN (.internal) and home routers reserve by custom.
const localName = /(?:^|\.)(?:localhost|local|internal|localdomain|lan|home\.arpa)$/

/** The parsed URL, or a SafeFetchError `invalid_url` or `blocked_address`. */
export function checkTargetUrl(target: string | URL, policy: TargetPolicy): URL {
  const url = parse(target)
  if (url.protocol !== 'https:' && !(policy.allowHttp && url.protocol === 'http:')) {
    throw invalid(policy.allowHttp ? 'URL must use https or http' : 'URL must use https')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('URL must not contain a user name or password: send credentials in a header')
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (!portIsAllowed(port, policy.ports)) {
    throw invalid(`Port ${port} is not allowed: use the default port of the scheme`)
  }
  checkHost(hostOf(url), policy)
  return url
}

/** The host without brackets, as resolvers and sockets want it. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

function parse(target: string | URL): URL {
  if (typeof target !== 'string') return new URL(target)
  // The parser drops tabs and line breaks silently; then the text is not what is requested.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(target)) throw invalid('URL must not contain spaces')
  try {
    return new URL(target)
  } catch {
    throw new SafeFetchError('invalid_url')
  }
}

function checkHost(host: string, policy: TargetPolicy): void {
  // Judged after parsing: the parser has made 127.0.0.1 of 2130706433, 0x7f.1, 0177.0.0.1 and ①②⑦.⓪.⓪.①
  if (isIP(host) !== 0) {
    if (!policy.permits(host)) throw new SafeFetchError('blocked_address')
    return
  }
  if (host.endsWith('.')) throw invalid('Host name must not end with a dot')
  if (!policy.allowLocalNames && (!host.includes('.') || localName.test(host))) {
    throw new SafeFetchError('blocked_address')
  }
}

function portIsAllowed(port: number, ports: PortPolicy): boolean {
  if (typeof ports !== 'string') return ports.includes(port)
  return webPorts.includes(port) || (ports === 'unprivileged' && port >= 1024)
}

function invalid(message: string): SafeFetchError {
  return new SafeFetchError('invalid_url', { message })
}
