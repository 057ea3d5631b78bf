/**
 * HTTP requests to URLs that others choose: webhook destinations, sites that prove their domain,
 * certificates. A request can reach only public addresses and the operator's allow list. It has a
 * deadline, and its response has a size limit.
 *
 * Uses undici's Agent instead of the global fetch: no redirects unless allowed, no decompression, and
 * no proxy from the environment, which would resolve names itself and bypass the guard. An egress
 * proxy needs its own guard.
 */
import { lookup } from 'node:dns/promises'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { type StartTimer, startTimer } from '@strongroom/platform/timers'
import type { Agent } from 'undici'
import { type Deadline, startDeadline } from './deadline.ts'
import type { createAgent } from './safe-fetch/agent.ts'
import { SafeFetchError, type SafeFetchReason, toSafeFetchError } from './safe-fetch/error.ts'
import { Exchange, type Exchanged } from './safe-fetch/exchange.ts'
import type { Resolve } from './safe-fetch/guarded-connector.ts'
import { createOwnTargets, type OwnAddresses } from './safe-fetch/own-addresses.ts'
import { addressPolicy, allowLoopback } from './safe-fetch/public-address.ts'
import { isRedirect, nextHop, type Hop } from './safe-fetch/redirect.ts'
import { buildRequestHeaders, type RequestHeaders } from './safe-fetch/request-headers.ts'
import { checkTargetUrl, type PortPolicy, type TargetPolicy } from './safe-fetch/target-url.ts'

export interface SafeFetchOptions {
  /** Networks that may be reached although they are not public, as CIDR. */
  allow?: readonly string[]
  allowHttp?: boolean
  /**
   * Allows single labels and names like `app.internal`, as in private networks; the addresses they
   * resolve to are still checked. Unless given, they are allowed if any network is.
   */
  allowLocalNames?: boolean
  /** Allows http and https to `localhost`, 127.0.0.0/8 and ::1, except to the ports of `own`. */
  allowLoopback?: boolean
  ports?: PortPolicy
  /** Addresses of this server, which are refused. */
  own?: OwnAddresses | undefined
  /** For DNS, connect, TLS, headers and body of all hops together. */
  timeoutMs?: number
  /** A longer body is truncated and the connection closed. */
  maxResponseBytes?: number
  maxHeaderBytes?: number
  userAgent?: string
  /** Certificate authorities in PEM, instead of Node's own. */
  ca?: string | readonly string[]
  resolve?: Resolve
  startTimer?: StartTimer
  /** The clock that the timers follow. */
  clock?: Clock
}

export interface SafeFetchRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: RequestHeaders
  body?: string | Uint8Array
  timeoutMs?: number
  maxResponseBytes?: number
  /** 0 unless given: then a redirect is returned like any other response. */
  maxRedirects?: number
  /** Whether redirects must stay on the same host name; true unless given. */
  sameHostRedirects?: boolean
  signal?: AbortSignal
}

interface ResponseBody {
  body: Uint8Array
  /** Whether the body is only the beginning of what the server sent. */
  truncated: boolean
  /** `too_large`, `timeout` or `connection`, if it is truncated. */
  truncatedBy: SafeFetchReason | null
}

export interface SafeFetchResponse extends ResponseBody {
  /** The URL of the response, after redirects. */
  url: string
  status: number
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>
}

export interface SafeFetch {
  /** Rejects with a SafeFetchError, whose message and reason may be shown to a tenant. */
  (url: string | URL, request?: SafeFetchRequest): Promise<SafeFetchResponse>
  /** Checks a URL when it is configured: throws what a request would throw before it connects. */
  check(url: string | URL): URL
  /** Closes the pooled connections after the running requests. */
  close(): Promise<void>
}

/** Texts whose check is remembered. */
const MAX_CHECKED_URLS = 1_000

/** Creates a client with its own policy and connections. */
export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const timeoutMs = options.timeoutMs ?? 10_000
  const maxResponseBytes = options.maxResponseBytes ?? 65_536
  const defaults = { 'user-agent': options.userAgent ?? 'Strongroom' }
  const allow = options.allow ?? []
  const resolve = options.resolve ?? resolveAll
  const own = options.own && createOwnTargets(options.own, { resolve, clock: options.clock })
  const policy: TargetPolicy = {
    permits: options.allowLoopback ? allowLoopback(addressPolicy(allow)) : addressPolicy(allow),
    allowLoopback: options.allowLoopback ?? false,
    allowHttp: options.allowHttp ?? false,
    allowLocalNames: options.allowLocalNames ?? allow.length > 0,
    ports: options.ports ?? 'web',
    isOwnName: own?.isOwnName,
    isOwnPort: own?.isOwnPort,
  }
  const checked = new Map<string, URL>()
  const agent = createLazyAgent({
    permits: policy.permits,
    resolve,
    isOwnAddress: own?.isOwnAddress,
    connectTimeoutMs: timeoutMs,
    ca: options.ca,
    maxHeaderBytes: options.maxHeaderBytes ?? 16_384,
  })

  /** Abandons the request when the deadline ends, also while it waits for DNS or for a handshake. */
  async function exchange(
    { url, method, headers, body }: Hop,
    deadline: Deadline,
    limits: Pick<ConstructorParameters<typeof Exchange>[0], 'maxBytes' | 'isBodyIgnored'>,
  ): Promise<Exchanged> {
    const sent = {
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: buildRequestHeaders(headers, defaults),
      body: body ?? null,
    }
    const dispatcher = await agent.load()
    return new Promise((respond, reject) => {
      const running = new Exchange({ ...limits, resolve: respond, reject })
      deadline.onEnd((reason) => running.end(reason))
      if (!deadline.hasEnded) dispatcher.dispatch(sent, running)
    })
  }

  async function follow(
    first: Hop,
    request: SafeFetchRequest,
    deadline: Deadline,
  ): Promise<SafeFetchResponse> {
    const { maxRedirects = 0, sameHostRedirects = true } = request
    const limits = {
      maxBytes: request.maxResponseBytes ?? maxResponseBytes,
      isBodyIgnored: (status: number, headers: Readonly<Record<string, string>>) =>
        maxRedirects > 0 && isRedirect(status, headers['location']),
    }
    let hop = first
    for (let followed = 0; ; followed++) {
      const response = await exchange(hop, deadline, limits)
      const { status, headers } = response
      if (maxRedirects === 0 || !isRedirect(status, headers['location'])) {
        return { url: hop.url.href, status, headers, ...bodyOf(response) }
      }
      if (followed === maxRedirects) throw new SafeFetchError('redirect')
      hop = nextHop(hop, status, headers['location'], policy, sameHostRedirects)
    }
  }

  /** Checked once for each text, because nothing that the check depends on changes. */
  function check(url: string | URL): URL {
    if (typeof url !== 'string') return checkTargetUrl(url, policy)
    let target = checked.get(url)
    if (!target) {
      target = checkTargetUrl(url, policy)
      if (checked.size >= MAX_CHECKED_URLS) checked.clear()
      checked.set(url, target)
    }
    return target
  }

  async function safeFetch(
    url: string | URL,
    request: SafeFetchRequest = {},
  ): Promise<SafeFetchResponse> {
    const { method = 'GET', headers = {}, body } = request
    const first = { url: check(url), method, headers, body }
    // One deadline for the whole exchange: timeouts between two bytes would let a server that sends one
    // byte at a time hold a connection for ever.
    const deadline = startDeadline(
      { ms: request.timeoutMs ?? timeoutMs },
      {
        clock: options.clock ?? systemClock,
        startTimer: options.startTimer ?? startTimer,
        parent: request.signal,
        error: (why) => new SafeFetchError(why),
      },
    )
    try {
      return await follow(first, request, deadline)
    } catch (error) {
      throw toSafeFetchError(error)
    } finally {
      deadline.stop()
    }
  }

  return Object.assign(safeFetch, {
    check: (url: string | URL) => checkTargetUrl(url, policy),
    close: () => agent.close(),
  })
}

/** The agent, created by the first request: most processes start without making one. */
function createLazyAgent(options: Parameters<typeof createAgent>[0]) {
  let loading: Promise<Agent> | undefined
  let isClosed = false

  async function load(): Promise<Agent> {
    const { createAgent: create } = await import('./safe-fetch/agent.ts')
    const agent = create(options)
    if (isClosed) await agent.close()
    return agent
  }

  return {
    load: () => (loading ??= load()),
    async close(): Promise<void> {
      isClosed = true
      await (await loading)?.close()
    },
  }
}

/** A body that fails on the way is a truncated one. Throws only for the caller's own cancellation. */
function bodyOf({ body, isTruncated, error }: Exchanged): ResponseBody {
  return {
    body,
    truncated: isTruncated,
    truncatedBy: error === undefined ? (isTruncated ? 'too_large' : null) : reasonOf(error),
  }
}

function reasonOf(error: unknown): SafeFetchReason {
  const failure = toSafeFetchError(error)
  if (!(failure instanceof SafeFetchError) || failure.reason === 'aborted') throw failure
  return failure.reason
}

const resolveAll: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map(({ address }) => address)
}
