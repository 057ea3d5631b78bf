/** Node's HTTP server: listening, and the adapter between it and the harness. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  type BodyBudget,
  type BudgetedRead,
  discardRest,
  findHeader,
  readRequestBody,
} from '@strongroom/platform/read-body'
import { enableGracefulClose } from '@strongroom/platform/http-server'
import { systemClock } from '@strongroom/platform/clock'
import { Failure } from '../errors.ts'
import type { Log } from '../log.ts'
import { createLogThrottle } from '../log-throttle.ts'
import { openOnce } from '../open-once.ts'
import type { App } from './app.ts'
import { type Capacity, type ConnectionRefusal, createCapacity } from './capacity.ts'
import { createHarness, type Handle, type HarnessOptions, OVERLOADED_RESPONSE } from './harness.ts'
import { noProxies } from './client-address.ts'
import type { HotMatcher } from './hot-routes.ts'
import { type HttpRequest, type HttpResponse, type Route, toWeb } from './request.ts'

/** May return a promise, which nothing awaits. */
type NodeHandler = (incoming: IncomingMessage, outgoing: ServerResponse) => unknown

export interface Listener {
  host: string
  port: number
  /** Starts to serve; until then every request gets 503. */
  serve(handler: NodeHandler): void
  /** Accepts no more connections, finishes the running requests and ends. */
  close(): Promise<void>
}

/** Requests that take longer do not delay the end of the server. */
const CLOSE_GRACE_MS = 10_000

export async function listen(
  host: string,
  port: number,
  options: HarnessOptions,
): Promise<Listener> {
  const { trustedProxies = noProxies } = options
  const { capacity = createCapacity({ trustedProxies }) } = options
  const harness = createHarness({ ...options, capacity })
  let current: NodeHandler = (incoming, outgoing) => run(harness, starting, incoming, outgoing)
  const server = createServer(
    // Slow senders would hold a connection for nothing.
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
    (incoming, outgoing) => void current(incoming, outgoing),
  )
  limitConnections(server, capacity, options.log)
  const close = enableGracefulClose(server, CLOSE_GRACE_MS)
  await startListening(server, host, port)
  return {
    host,
    port: (server.address() as AddressInfo).port,
    serve(handler) {
      current = handler
    },
    close,
  }
}

/** Refused connections that may still read their response; beyond them, connections end without one. */
const MAX_REFUSED_CONNECTIONS = 100
/** How long a refused client has to read its response. */
const REFUSED_MS = 500
const REFUSED_QUIET_MS = 60_000

/**
 * Responds to connections beyond the limits without reading from them: a request that is parsed, or a
 * body that is buffered, would cost what the limit saves.
 */
function limitConnections(server: Server, capacity: Capacity, log: Log): void {
  const throttle = createLogThrottle({ clock: systemClock, quietMs: REFUSED_QUIET_MS })
  server.maxConnections = capacity.limits.maxConnections + MAX_REFUSED_CONNECTIONS
  // Node's own listener starts to parse, so it runs only for admitted connections.
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const { remoteAddress } = socket
    const refusal = capacity.enterConnection(remoteAddress)
    if (refusal) {
      throttle(refusal, (suppressed) => log.warn(REFUSAL_TEXTS[refusal], { suppressed }))
      refuseConnection(socket)
      return
    }
    socket.once('close', () => capacity.leaveConnection(remoteAddress))
    for (const listener of listeners) listener.call(server, socket)
  })
}

const REFUSAL_TEXTS: Record<ConnectionRefusal, string> = {
  connections: 'too many connections are open, refusing more: see STRONGROOM_MAX_CONNECTIONS',
  address_connections:
    'too many connections from one address are open, refusing more: if it is a proxy, name it in STRONGROOM_TRUSTED_PROXIES; otherwise see STRONGROOM_MAX_CONNECTIONS_PER_ADDRESS',
}

function refuseConnection(socket: Socket): void {
  const timer = setTimeout(() => socket.destroy(), REFUSED_MS).unref()
  socket.once('close', () => clearTimeout(timer))
  // A client that disconnects is no failure.
  socket.on('error', () => {})
  socket.on('end', () => socket.destroySoon())
  // Unread bytes would reset the connection before the client has read the response.
  socket.resume()
  socket.end(REFUSED_CONNECTION)
}

const REFUSED_CONNECTION = (() => {
  const { contentType = '', headers = [], body } = OVERLOADED_RESPONSE
  const fields = ['content-type', contentType, ...headers, 'connection', 'close']
  fields.push('content-length', String(Buffer.byteLength(body)))
  const lines = fields.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${fields[at + 1]}`] : []))
  return `HTTP/1.1 503 Service Unavailable\r\n${lines.join('\r\n')}\r\n\r\n${body}`
})()

/** While the store and the services open. */
const starting: Route = {
  service: 'server',
  pattern: 'starting',
  handle: async () => ({
    status: 503,
    contentType: 'text/plain; charset=UTF-8',
    headers: ['retry-after', '1'],
    body: 'Starting',
  }),
}

async function startListening(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(listenFailure(error, host, port)))
    server.listen(port, host, resolve)
  })
}

/** What to do about an address that cannot be listened on. */
export function listenFailure(
  { code, message }: NodeJS.ErrnoException,
  host: string,
  port: number,
): Failure {
  const reasons: Record<string, string> = {
    EADDRINUSE: `Port ${port} of ${host} is in use: stop what uses it, or choose another port`,
    EACCES: `Port ${port} needs more rights than this user has: choose one above 1023`,
    EADDRNOTAVAIL: `${host} is not an address of this machine: choose another host`,
    ENOTFOUND: `The host name ${host} is not known: choose another host`,
  }
  return new Failure(
    'failed',
    reasons[code ?? ''] ?? `Cannot listen on ${host}:${port}: ${message}`,
  )
}

const noHotRoutes: HotMatcher = () => undefined

/** Runs hot routes directly and everything else in the app. */
export function nodeListener(app: App, findHotRoute: HotMatcher = noHotRoutes): RequestListener {
  const { harness, mainRoute } = app
  // Loads Node's classes for requests of the web platform too.
  const toApp = lazyListener(harness, async () => {
    const { getRequestListener } = await import('@hono/node-server')
    return getRequestListener(async (web, { incoming, outgoing }) => {
      const request = new NodeRequest(incoming as IncomingMessage, outgoing as ServerResponse, web)
      return toWeb(await harness(mainRoute, request))
    })
  })
  return hotListener(harness, findHotRoute, toApp)
}

/** Runs hot routes, and leaves other requests to another listener. */
export function hotListener(
  harness: Handle,
  findHotRoute: HotMatcher,
  others: NodeHandler,
): RequestListener {
  return (incoming, outgoing) => {
    const { method = '', url = '' } = incoming
    const route = findHotRoute(method, url)
    if (!route) return void others(incoming, outgoing)
    const refusal = harness.refuse(route, url)
    if (refusal) writeResponse(incoming, outgoing, refusal)
    else run(harness, route, incoming, outgoing)
  }
}

/** A listener that the first request loads, for what would take time at each start. */
export function lazyListener(harness: Handle, load: () => Promise<NodeHandler>): RequestListener {
  let loaded: NodeHandler | undefined
  const loadOnce = openOnce(async () => (loaded = await load()))
  return (incoming, outgoing) => {
    if (loaded) return void loaded(incoming, outgoing)
    loadOnce().then(
      (listener) => listener(incoming, outgoing),
      (error: unknown) => run(harness, failed(error), incoming, outgoing),
    )
  }
}

function failed(error: unknown): Route {
  return {
    service: 'server',
    pattern: 'unmatched',
    handle: async () => {
      throw error
    },
  }
}

function run(
  harness: Handle,
  route: Route,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void {
  harness(route, new NodeRequest(incoming, outgoing)).then(
    (response) => writeResponse(incoming, outgoing, response),
    () => outgoing.destroy(),
  )
}

class NodeRequest implements HttpRequest {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #web: Request | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, web?: Request) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#web = web
  }

  get method(): string {
    return this.#incoming.method ?? ''
  }

  get target(): string {
    const { url = '/' } = this.#incoming
    if (url.startsWith('/')) return url
    // A proxy may send the whole address.
    const { pathname, search } = new URL(this.web().url)
    return pathname + search
  }

  get rawHeaders(): readonly string[] {
    return this.#incoming.rawHeaders
  }

  get peerAddress(): string | undefined {
    return this.#incoming.socket.remoteAddress
  }

  /** Node's parser reads exactly Content-Length bytes, and none without a length or chunks. */
  get bodyBytes(): number | undefined {
    if (findHeader(this.rawHeaders, 'transfer-encoding') !== undefined) return undefined
    return Number(findHeader(this.rawHeaders, 'content-length') ?? 0)
  }

  readBody(maxBytes: number, budget: BodyBudget): Promise<BudgetedRead> {
    return readRequestBody(this.#incoming, maxBytes, budget)
  }

  isAborted(): boolean {
    return this.#incoming.destroyed && !this.#incoming.complete
  }

  onDisconnect(listener: () => void): void {
    this.#outgoing.once('close', () => {
      if (!this.#outgoing.writableFinished) listener()
    })
  }

  web(): Request {
    if (!this.#web) throw new Error('Cannot run the app for a hot route')
    return this.#web
  }

  get platform(): object {
    return { incoming: this.#incoming, outgoing: this.#outgoing }
  }
}

/** How long the rest of a refused body may take, so that the client reads the response first. */
const REST_MS = 500
/** Node drops a shorter body by itself: a new connection, or a timer for the rest, would cost more. */
const MAX_DROPPED_BYTES = 65_536

function writeResponse(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers = [], body }: HttpResponse,
): void {
  // Alternating names and values: the fastest form that Node takes.
  const list = headers as string[]
  if (!incoming.complete && !canDropBody(incoming)) {
    // The rest of the body is not read, and so no later request on this connection.
    list.push('connection', 'close')
    outgoing.once('finish', () => discardRest(incoming, { ms: REST_MS }))
  }
  if (status === 204) return void outgoing.writeHead(status, list).end()
  list.push('content-length', String(Buffer.byteLength(body)))
  outgoing.writeHead(status, list).end(body)
}

/** Only a body that no one began to read. */
function canDropBody({ rawHeaders, readableFlowing }: IncomingMessage): boolean {
  if (readableFlowing !== null) return false
  return Number(findHeader(rawHeaders, 'content-length') ?? Infinity) <= MAX_DROPPED_BYTES
}
