/**
 * HTTP requests to addresses that somebody else chose: webhook destinations, sites that prove their
 * domain, certificates. A request can reach public addresses and the operator's allow list, nothing
 * else; it ends in time, and its response has a size limit.
 *
 * undici's own Agent and request, never the global fetch: no redirects unless asked for, no
 * decompression, and no proxy from the environment, which would resolve names by itself and so pass
 * the guard. An egress proxy has to bring a guard of its own.
 */
import { lookup } from 'node:dns/promises'
import { Agent } from 'undici'
import { startDeadline, startTimer, type Deadline, type StartTimer } from './safe-fetch/deadline.ts'
import { SafeFetchError, toSafeFetchError } from './safe-fetch/error.ts'
import { guardedConnector, type Resolve } from './safe-fetch/guarded-connector.ts'
import { addressPolicy } from './safe-fetch/public-address.ts'
import { isRedirect, nextHop, type Hop } from './safe-fetch/redirect.ts'
import { outgoingHeaders, type RequestHeaders } from './safe-fetch/request-headers.ts'
import { discard, readBody, type ReadBody } from './safe-fetch/response-body.ts'
import { checkTargetUrl, type PortPolicy, type TargetPolicy } from './safe-fetch/target-url.ts'

export interface SafeFetchOptions {
  /** Networks that may be reached although they are not public, as CIDR. */
  allow?: readonly string[]
  allowHttp?: boolean
  /**
   * Single labels and names like `app.internal`, as what is next door has them; what they resolve to
   * is still checked. Unless given, they are allowed if any network is.
   */
  allowLocalNames?: boolean
  ports?: PortPolicy
  /** For DNS, connect, TLS, headers and body of all hops together. */
  timeoutMs?: number
  /** A longer body is cut here and the connection closed. */
  maxResponseBytes?: number
  maxHeaderBytes?: number
  userAgent?: string
  /** Certificate authorities in PEM, instead of the ones that come with Node. */
  ca?: string | readonly string[]
  resolve?: Resolve
  startTimer?: StartTimer
}

export interface SafeFetchRequest {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: RequestHeaders
  body?: string | Uint8Array
  timeoutMs?: number
  maxResponseBytes?: number
  /** 0 unless given: a redirect is then a response like any other. */
  maxRedirects?: number
  /** Whether redirects must stay on the host name; true unless given. */
  sameHostRedirects?: boolean
  signal?: AbortSignal
}

export interface SafeFetchResponse extends ReadBody {
  /** The URL that answered, after redirects. */
  url: string
  status: number
  /** Lower-case names; repeated headers are joined with a comma. */
  headers: Readonly<Record<string, string>>
}

export interface SafeFetch {
  /** Rejects with a SafeFetchError, whose message and reason a tenant may see. */
  (url: string | URL, request?: SafeFetchRequest): Promise<SafeFetchResponse>
  /** The check for the moment a URL is configured: throws what a request would throw at once. */
  check(url: string | URL): URL
  /** Closes the pooled connections, after the requests under way. */
  close(): Promise<void>
}

/** A client with its own policy and its own connections. */
export function createSafeFetch(options: SafeFetchOptions = {}): SafeFetch {
  const timeoutMs = options.timeoutMs ?? 10_000
  const maxResponseBytes = options.maxResponseBytes ?? 65_536
  const defaults = { 'user-agent': options.userAgent ?? 'Strongroom' }
  const allow = options.allow ?? []
  const policy: TargetPolicy = {
    permits: addressPolicy(allow),
    allowHttp: options.allowHttp ?? false,
    allowLocalNames: options.allowLocalNames ?? allow.length > 0,
    ports: options.ports ?? 'web',
  }
  const agent = new Agent({
    connect: guardedConnector({
      permits: policy.permits,
      resolve: options.resolve ?? resolveAll,
      connectTimeoutMs: timeoutMs,
      ca: options.ca,
    }),
    maxHeaderSize: options.maxHeaderBytes ?? 16_384,
    // Whatever a server asks for, an idle connection does not outlive its name's address for long.
    keepAliveMaxTimeout: 60_000,
    // The deadline covers both, and these two do not cover a body that drips.
    headersTimeout: 0,
    bodyTimeout: 0,
  })

  async function exchange({ url, method, headers, body }: Hop, deadline: Deadline) {
    const response = await deadline.race(
      agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method,
        headers: outgoingHeaders(headers, defaults),
        body: body ?? null,
        signal: deadline.signal,
      }),
    )
    return { status: response.statusCode, headers: flat(response.headers), stream: response.body }
  }

  async function follow(
    first: Hop,
    request: SafeFetchRequest,
    deadline: Deadline,
  ): Promise<SafeFetchResponse> {
    const { maxRedirects = 0, sameHostRedirects = true } = request
    let hop = first
    for (let followed = 0; ; followed++) {
      const { status, headers, stream } = await exchange(hop, deadline)
      if (maxRedirects === 0 || !isRedirect(status, headers['location'])) {
        const body = await readBody(stream, request.maxResponseBytes ?? maxResponseBytes)
        return { url: hop.url.href, status, headers, ...body }
      }
      discard(stream)
      if (followed === maxRedirects) throw new SafeFetchError('redirect')
      hop = nextHop(hop, status, headers['location'], policy, sameHostRedirects)
    }
  }

  async function safeFetch(
    url: string | URL,
    request: SafeFetchRequest = {},
  ): Promise<SafeFetchResponse> {
    const { method = 'GET', headers = {}, body } = request
    const first = { url: checkTargetUrl(url, policy), method, headers, body }
    const deadline = startDeadline(
      request.timeoutMs ?? timeoutMs,
      request.signal,
      options.startTimer ?? startTimer,
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

const resolveAll: Resolve = async (hostname) => {
  const answers = await lookup(hostname, { all: true, verbatim: true })
  return answers.map(({ address }) => address)
}

function flat(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flattened: Record<string, string> = {}
  for (const name of Object.keys(headers)) {
    const value = headers[name] ?? ''
    flattened[name] = typeof value === 'string' ? value : value.join(', ')
  }
  return flattened
}
