/**
 * How much one process holds: connections, request bodies and running requests. What exceeds a limit is
 * refused, so that a flood costs some clients an error and not all of them the server.
 */
import { Counter, type Metrics } from '../metrics.ts'
import { type CapacityLimits, defaultLimits } from './capacity-limits.ts'
import { createProxyTrust, networksOf, noProxies, type TrustedProxies } from './client-address.ts'

export const RETRY_AFTER_SECONDS = '1'

/** The running requests of one service. */
export interface ServiceLoad {
  readonly service: string
  running: number
  /** Of these, requests of hot routes that have their body. */
  hot: number
  hotByOwner: Map<string, number>
}

/** What one owner may have of the hot requests of a service, so that others are admitted during a flood. */
const OWNER_SHARE = 0.75

/** How a request is limited. */
export type RequestKind = 'app' | 'hot' | 'probe'

export type ConnectionRefusal = 'connections' | 'address_connections'
type Refusal = ConnectionRefusal | 'requests' | 'hot_requests' | 'bodies'

export interface Capacity {
  readonly limits: CapacityLimits
  /** Counts a connection; call `leave` when it closes. Undefined if it is admitted. */
  enterConnection(peer: string | undefined): ConnectionRefusal | undefined
  leaveConnection(peer: string | undefined): void
  loadOf(service: string): ServiceLoad
  /**
   * Counts a request and returns true, unless too many of the service are running. Probes are always
   * admitted, and requests of hot routes only while another one could begin its work.
   */
  enterRequest(load: ServiceLoad, kind?: RequestKind): boolean
  /** Returns true, and counts a refused request, if one of this owner would not be admitted now. */
  refuse(load: ServiceLoad, kind: RequestKind, owner?: string): boolean
  leaveRequest(load: ServiceLoad): void
  /** Counts a request of a hot route whose body has arrived: one that only sends slowly takes no place. */
  enterHotRequest(load: ServiceLoad, owner: string | undefined): boolean
  leaveHotRequest(load: ServiceLoad, owner: string | undefined): void
  /** Counts bytes of a body and returns true, unless too many are held. */
  takeBody(bytes: number): boolean
  releaseBody(bytes: number): void
}

export function createCapacity(
  options: {
    limits?: Partial<CapacityLimits>
    /** None by default. */
    trustedProxies?: TrustedProxies
    metrics?: Metrics
  } = {},
): Capacity {
  const limits = { ...defaultLimits, ...options.limits }
  const { maxConnections, maxConnectionsPerAddress, maxBodyBytes } = limits
  const { maxRequests, maxHotRequests } = limits
  const maxHotOfOwner = Math.ceil(maxHotRequests * OWNER_SHARE)
  const proxies = createProxyTrust(options.trustedProxies ?? noProxies)
  const refused: Record<Refusal, number> = {
    connections: 0,
    address_connections: 0,
    requests: 0,
    hot_requests: 0,
    bodies: 0,
  }
  if (options.metrics) registerMetrics(options.metrics, refused)
  const loads = new Map<string, ServiceLoad>()
  /** By network. */
  const connectionCounts = new Map<string, number>()
  let connections = 0
  let bodyBytes = 0

  function connectionRefusal(peer: string | undefined): ConnectionRefusal | undefined {
    if (connections >= maxConnections) return 'connections'
    if (peer === undefined || proxies.trustsPeer(peer)) return undefined
    const isFull = networksOf(proxies.clientAddress(peer, undefined)).some(
      ({ network, factor }) =>
        (connectionCounts.get(network) ?? 0) >= factor * maxConnectionsPerAddress,
    )
    return isFull ? 'address_connections' : undefined
  }

  function countConnection(peer: string | undefined, change: 1 | -1): void {
    connections += change
    if (peer === undefined || proxies.trustsPeer(peer)) return
    for (const { network } of networksOf(proxies.clientAddress(peer, undefined))) {
      const count = (connectionCounts.get(network) ?? 0) + change
      if (count > 0) connectionCounts.set(network, count)
      else connectionCounts.delete(network)
    }
  }

  function refuseHot({ hot, hotByOwner }: ServiceLoad, owner: string | undefined): boolean {
    if (hot < maxHotOfOwner) return false
    const own = owner === undefined ? 0 : (hotByOwner.get(owner) ?? 0)
    if (hot < maxHotRequests && own < maxHotOfOwner) return false
    refused.hot_requests += 1
    return true
  }

  function refuse(load: ServiceLoad, kind: RequestKind, owner?: string): boolean {
    if (kind === 'hot' && refuseHot(load, owner)) return true
    if (kind !== 'probe' && load.running >= maxRequests) {
      refused.requests += 1
      return true
    }
    return false
  }

  return {
    limits,

    enterConnection(peer) {
      const refusal = connectionRefusal(peer)
      if (refusal) refused[refusal] += 1
      else countConnection(peer, 1)
      return refusal
    },

    leaveConnection: (peer) => countConnection(peer, -1),

    loadOf(service) {
      let load = loads.get(service)
      if (!load) {
        load = { service, running: 0, hot: 0, hotByOwner: new Map() }
        loads.set(service, load)
      }
      return load
    },

    refuse,

    enterRequest(load, kind = 'app') {
      if (refuse(load, kind)) return false
      load.running += 1
      return true
    },

    leaveRequest(load) {
      load.running -= 1
    },

    enterHotRequest(load, owner) {
      if (refuseHot(load, owner)) return false
      countHot(load, owner, 1)
      return true
    },

    leaveHotRequest: (load, owner) => countHot(load, owner, -1),

    takeBody(bytes) {
      if (bodyBytes + bytes > maxBodyBytes) {
        refused.bodies += 1
        return false
      }
      bodyBytes += bytes
      return true
    },

    releaseBody(bytes) {
      bodyBytes -= bytes
    },
  }
}

function countHot(load: ServiceLoad, owner: string | undefined, change: 1 | -1): void {
  load.hot += change
  if (owner === undefined) return
  const count = (load.hotByOwner.get(owner) ?? 0) + change
  if (count > 0) load.hotByOwner.set(owner, count)
  else load.hotByOwner.delete(owner)
}

function registerMetrics({ registry }: Metrics, refused: Record<Refusal, number>): void {
  const counter = new Counter({
    name: 'strongroom_http_refused_total',
    help: 'Connections, requests and bodies that exceeded a limit of the server',
    labelNames: ['limit'] as const,
    registers: [],
    collect() {
      this.reset()
      for (const [limit, count] of Object.entries(refused)) this.inc({ limit }, count)
    },
  })
  registry.registerMetric(counter)
}
