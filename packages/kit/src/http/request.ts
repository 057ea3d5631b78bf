/**
 * Requests, responses and routes as plain values. Adapters such as `node.ts` create the requests and
 * write the responses; `harness.ts` is between them and the routes.
 */
import type { BodyBudget, BudgetedRead } from '@strongroom/platform/read-body'
import type { Log } from '../log.ts'

export interface HttpRequest {
  method: string
  /** Path and query as sent: signatures are over it. */
  target: string
  /** Alternating names and values, as sent. */
  rawHeaders: readonly string[]
  /** The address at the other end of the connection: the client's, or that of a proxy. */
  peerAddress: string | undefined
  /** The size of the body where the platform guarantees it; undefined if it shows only while reading. */
  bodyBytes: number | undefined
  /** Routes read it through `Call.readBody`, which counts it. */
  readBody(maxBytes: number, budget: BodyBudget): Promise<BudgetedRead>
  /** The client disconnected before it had sent the whole request. */
  isAborted(): boolean
  /** Calls the listener if the client disconnects before it has the whole response. */
  onDisconnect(listener: () => void): void
  /** For the Hono app. */
  web(): Request
  /** For `c.env`: `incoming` and `outgoing` on Node. */
  platform: object
}

export interface HttpResponse {
  /** 204 is sent without a body. */
  status: number
  contentType?: string
  /** Alternating names and values, names in lower case. The harness and the adapter add theirs. */
  headers?: readonly string[]
  body: string
}

/** One request on its way through the harness. */
export interface Call {
  readonly requestId: string
  /** Writes the request id on every line. */
  readonly log: Log
  /** In canonical form; from `X-Forwarded-For` only behind trusted proxies. */
  readonly clientAddress: string | undefined
  /**
   * Aborts when the deadline passes or the client disconnects: for reads, outbound calls and waiting.
   * A write that was sent runs to its end.
   */
  readonly signal: AbortSignal
  /** Until the response begins; a handler may change it. */
  timeoutMs: number
  /** Reads the body and counts its bytes until the request ends. */
  readBody(maxBytes: number): Promise<BudgetedRead>
  /** Starts the deadline again, for what follows the body: Node limits how long a body takes. */
  restartDeadline(): void
  /**
   * Counts the request for the service that handles it, also in the access log and metrics. Throws
   * `server.overloaded` if too many of its requests are running.
   */
  enterService(service: string): void
  /**
   * For hot routes, when the body has arrived. Throws `server.overloaded` if too many requests of the
   * service's hot routes are running, or too many of this owner.
   */
  enterHotRoute(owner: string | undefined): void
  readonly service: string
  /** For the access log and metrics. The app sets this and the next while it runs. */
  route: string
  errorCode: string | undefined
}

export interface Route<Result extends HttpResponse | Response = HttpResponse> {
  service: string
  /** As logs and metrics name it: `/in/:sourceId`. */
  pattern: string
  /** Limits its requests as those of hot routes. */
  isHot?: boolean
  /** For hot routes, see `HotRoute`. */
  ownerOf?(target: string): string | undefined
  /** Until the response begins; the harness has a default. */
  timeoutMs?: number | undefined
  handle(request: HttpRequest, call: Call): Promise<Result>
}

/** Not by class: `@hono/node-server` replaces the global one, which `fetch` does not use. */
export function isWebResponse(response: HttpResponse | Response): response is Response {
  return 'text' in response
}

/** All values of a header, joined as RFC 9110, section 5.2 says. */
export function joinHeader(rawHeaders: readonly string[], name: string): string | undefined {
  let joined: string | undefined
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() !== name) continue
    joined = joined === undefined ? rawHeaders[at + 1] : `${joined}, ${rawHeaders[at + 1]}`
  }
  return joined
}

/** The query as sent, without its question mark. */
export function queryOf(target: string): string | undefined {
  const mark = target.indexOf('?')
  return mark < 0 ? undefined : target.slice(mark + 1)
}

export function toWeb(response: HttpResponse | Response): Response {
  if (isWebResponse(response)) return response
  const { status, body } = response
  const headers = headerPairs(response)
  return new Response(status === 204 ? null : body, { status, headers })
}

export function headerPairs({ contentType, headers = [] }: HttpResponse): [string, string][] {
  const pairs: [string, string][] = contentType === undefined ? [] : [['content-type', contentType]]
  for (let at = 0; at < headers.length; at += 2) pairs.push([headers[at]!, headers[at + 1]!])
  return pairs
}
