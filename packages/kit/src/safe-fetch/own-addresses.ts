/**
 * Recognises the server itself, its store and its KMS as the target of a request that somebody else
 * configured: by the names in their URLs, and after DNS resolution by the addresses of these names and
 * of the server's listeners.
 */
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { type Clock, isRecent, systemClock } from '@strongroom/platform/clock'
import type { Resolve } from './guarded-connector.ts'

export interface OwnAddresses {
  /** The public URL of the server and the own origins of its services. */
  origins: readonly string[]
  /** Where it listens. */
  listeners: readonly { host: string; port: number }[]
  /** The endpoints of its store and its KMS, whose data belongs to everybody. */
  endpoints?: readonly string[]
  /**
   * Whether other sites have the same addresses as `origins`, for example behind the same proxy. Then
   * only the names are recognised.
   */
  isShared?: boolean | undefined
}

export interface OwnTargets {
  /** Whether a URL names one of them. */
  isOwnName(hostname: string, port: number): boolean
  /** Whether one of them has this port. */
  isOwnPort(port: number): boolean
  /** Whether an address and port, after resolution, are of one of them. */
  isOwnAddress(address: string, port: number): Promise<boolean>
}

const RESOLVED_FOR_MS = 60_000

export function createOwnTargets(
  { origins, listeners, endpoints = [], isShared = false }: OwnAddresses,
  {
    resolve,
    localAddresses = addressesOfInterfaces,
    clock = systemClock,
  }: { resolve: Resolve; localAddresses?: () => readonly string[]; clock?: Clock | undefined },
): OwnTargets {
  const [served, used] = [origins.map(targetOf), endpoints.map(targetOf)]
  const named = [...served, ...used]
  const targets = [...(isShared ? [] : served), ...used, ...listeners]
  let resolved: { at: number; targets: Promise<ReadonlySet<string>> } | undefined

  async function addressesOf(host: string): Promise<readonly string[]> {
    if (isWildcard(host)) return [...localAddresses(), ...LOOPBACK, '0.0.0.0', '::']
    if (isIP(host) !== 0) return [host]
    // A name that cannot be resolved now cannot be reached either.
    return resolve(host).catch(() => [])
  }

  async function resolveTargets(): Promise<ReadonlySet<string>> {
    const found = await Promise.all(
      targets.map(async ({ host, port }) =>
        (await addressesOf(host)).map((address) => keyOf(address, port)),
      ),
    )
    return new Set(found.flat())
  }

  const isOwnPort = (port: number) => targets.some((own) => own.port === port)

  return {
    isOwnPort,
    isOwnName: (hostname, port) =>
      named.some((own) => own.host === bare(hostname) && own.port === port),
    async isOwnAddress(address, port) {
      if (!isOwnPort(port)) return false
      if (!resolved || !isRecent(clock, resolved.at, RESOLVED_FOR_MS)) {
        resolved = { at: clock.now(), targets: resolveTargets() }
      }
      return (await resolved.targets).has(keyOf(address, port))
    },
  }
}

const LOOPBACK = ['127.0.0.1', '::1']

function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

function addressesOfInterfaces(): string[] {
  return Object.values(networkInterfaces()).flatMap((each) =>
    (each ?? []).map(({ address }) => address),
  )
}

function targetOf(origin: string): { host: string; port: number } {
  const { hostname, port, protocol } = new URL(origin)
  return { host: bare(hostname), port: Number(port || (protocol === 'https:' ? 443 : 80)) }
}

/** Without the brackets of an IPv6 address. */
function bare(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase()
}

/** A socket treats ::ffff:a.b.c.d as a.b.c.d. */
function keyOf(address: string, port: number): string {
  const plain = address
    .toLowerCase()
    .replace(/%.*$/s, '')
    .replace(/^::ffff:(?=\d+\.)/, '')
  return `${plain} ${port}`
}
