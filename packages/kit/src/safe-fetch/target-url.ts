/**
 * Checks the text of a URL, when it is configured and again before each request.
 *
 * It reports mistakes early and decides on scheme, port and names. The defence against names that
 * resolve to private addresses is guarded-connector.ts.
 */
import { isIP } from 'node:net'
import { ownAddress, SafeFetchError } from './error.ts'
import type { OwnTargets } from './own-addresses.ts'
import { type AddressPolicy, isLoopbackHost } from './public-address.ts'

/** `web`: 80, 443, 8080 and 8443; `unprivileged`: these and everything from 1024 up; or a list. */
export type PortPolicy = 'web' | 'unprivileged' | readonly number[]

export interface TargetPolicy {
  permits: AddressPolicy
  allowHttp: boolean
  /** Allows single labels and names like `app.internal`, for targets in private networks. */
  allowLocalNames: boolean
  /** Allows URLs of this machine, also with http; `permits` has to allow them as well. */
  allowLoopback?: boolean
  ports: PortPolicy
  /** Whether a host and port name the server itself. */
  isOwnName?: OwnTargets['isOwnName'] | undefined
  /** Whether the server has this port, so that loopback with it may be the server itself. */
  isOwnPort?: OwnTargets['isOwnPort'] | undefined
}

const WEB_PORTS: readonly number[] = [80, 443, 8080, 8443]

// RFC 6761, RFC 6762, RFC 8375, and what ICANN (.internal) and home routers reserve by custom.
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|localdomain|lan|home\.arpa)$/

/** The parsed URL, or a SafeFetchError `invalid_url` or `blocked_address`. */
export function checkTargetUrl(target: string | URL, policy: TargetPolicy): URL {
  const url = parse(target)
  const isLoopback = policy.allowLoopback === true && isLoopbackHost(hostOf(url))
  const allowHttp = policy.allowHttp || isLoopback
  if (url.protocol !== 'https:' && !(allowHttp && url.protocol === 'http:')) {
    throw invalid(allowHttp ? 'URL must use https or http' : 'URL must use https')
  }
  if (url.username !== '' || url.password !== '') {
    throw invalid('URL must not contain a user name or password: send credentials in a header')
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (!isPortAllowed(port, policy.ports)) {
    throw invalid(`Port ${port} is not allowed: use the default port of the scheme`)
  }
  if (policy.isOwnName?.(url.hostname, port)) throw ownAddress()
  if (isLoopback && policy.isOwnPort?.(port)) throw ownAddress()
  if (!isLoopback) checkHost(hostOf(url), policy)
  return url
}

/** The host without brackets, as resolvers and sockets want it. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1')
}

function parse(target: string | URL): URL {
  if (typeof target !== 'string') return new URL(target)
  // The parser silently drops tabs and line breaks, so the request would go to another URL.
  // oxlint-disable-next-line no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(target)) throw invalid('URL must not contain spaces')
  try {
    return new URL(target)
  } catch {
    throw new SafeFetchError('invalid_url')
  }
}

function checkHost(host: string, policy: TargetPolicy): void {
  // After parsing, which turns 2130706433, 0x7f.1, 0177.0.0.1 and ①②⑦.⓪.⓪.① into 127.0.0.1
  if (isIP(host) !== 0) {
    if (!policy.permits(host, host)) throw new SafeFetchError('blocked_address')
    return
  }
  if (host.endsWith('.')) throw invalid('Host name must not end with a dot')
  if (!policy.allowLocalNames && (!host.includes('.') || LOCAL_NAME.test(host))) {
    throw new SafeFetchError('blocked_address')
  }
}

function isPortAllowed(port: number, ports: PortPolicy): boolean {
  if (typeof ports !== 'string') return ports.includes(port)
  return WEB_PORTS.includes(port) || (ports === 'unprivileged' && port >= 1024)
}

function invalid(message: string): SafeFetchError {
  return new SafeFetchError('invalid_url', { message })
}
