/**
 * The pipeline around every request: id, client address, deadline, errors, security headers, metrics
 * and the access log. Hot routes and the Hono app run inside it, adapters for Node and other platforms are
 * outside it.
 */
import { randomUUID } from 'node:crypto'
import type { BodyBudget, BudgetedRead } from '@strongroom/platform/read-body'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import {
  createProxyTrust,
  noProxies,
  type ProxyTrust,
  type TrustedProxies,
} from './client-address.ts'
import {
  type Capacity,
  createCapacity,
  type RequestKind,
  RETRY_AFTER_SECONDS,
  type ServiceLoad,
} from './capacity.ts'
import { errorResponse } from './error-response.ts'
import { requestError, serverError } from './errors.ts'
import { createOverloadLog, type OverloadLog } from './overload-log.ts'
import {
  type Call,
  type HttpRequest,
  type HttpResponse,
  isWebResponse,
  joinHeader,
  type Route,
} from './request.ts'
import { createHeaderWriter } from './security-headers.ts'

export interface HarnessOptions {
  log: Log
  metrics: Metrics
  /** Where people reach the server. */
  publicUrl?: string | undefined
  /** None by default. */
  trustedProxies?: TrustedProxies
  /** Shared by everything that one process serves; of its own by default. */
  capacity?: Capacity
  /** Until the response begins, for routes without a limit of their own. */
  timeoutMs?: number
  /** For deadlines; monotonic, in milliseconds. */
  now?: () => number
  startTimer?: StartTimer
}

export interface Handle {
  /** Runs a route for a request. An error becomes a response, and so does a missed deadline. */
  <Result extends HttpResponse | Response>(
    route: Route<Result>,
    request: HttpRequest,
  ): Promise<Result | HttpResponse>
  /**
   * The response to a request that would be refused now; undefined if it can run. For adapters, because
   * in an overload most requests are refused, and the CPU is for the others.
   */
  refuse(route: Route, target: string): HttpResponse | undefined
}

const DEFAULT_TIMEOUT_MS = 60_000

export function createHarness(options: HarnessOptions): Handle {
  const { log, publicUrl, timeoutMs = DEFAULT_TIMEOUT_MS, now = () => performance.now() } = options
  const clients = createClientAddresses(createProxyTrust(options.trustedProxies ?? noProxies))
  const headers = createHeaderWriter({ publicUrl })
  const report = createAccessLog(options)
  const { capacity = createCapacity() } = options
  const startTimer = options.startTimer ?? startBackgroundTimer
  const logOverload = createOverloadLog({ log, now, startTimer })
  const shared = { capacity, clients, log, logOverload, now, timeoutMs }
  const deadlines = createDeadlines(startTimer, now, (call) => {
    const error = requestError('timeout')
    call.abort(error)
    respond(call, errorResponse(error, call.request, call))
  })

  async function run(route: Route<HttpResponse | Response>, call: RunningCall): Promise<void> {
    let response: HttpResponse | Response
    try {
      response = await route.handle(call.request, call)
    } catch (thrown) {
      if (call.isAnswered) {
        call.log.warn('request failed after its deadline', { error: thrown })
        return
      }
      response = errorResponse(thrown, call.request, call)
    } finally {
      call.leave()
    }
    if (call.isAnswered) discardLate(response)
    else respond(call, response)
  }

  function respond(call: RunningCall, response: HttpResponse | Response): void {
    const { request, requestId } = call
    call.isAnswered = true
    if (call.slot >= 0) deadlines.delete(call)
    report(call, request.method, response.status, now() - call.receivedAt)
    call.resolve(
      isWebResponse(response)
        ? headers.addToWeb(response, requestId)
        : headers.addTo(response, requestId),
    )
  }

  /** Without a line and an observation of its own. */
  function refuse(service: string, requestId: string): HttpResponse {
    logOverload(service)
    return headers.addTo(OVERLOADED_RESPONSE, requestId)
  }

  const handle = <Result extends HttpResponse | Response>(
    route: Route<Result>,
    request: HttpRequest,
  ) =>
    new Promise<Result | HttpResponse>((resolve, reject) => {
      const call = new RunningCall(route, request, shared, resolve as RunningCall['resolve'])
      if (!capacity.enterRequest(call.load, kindOf(route))) {
        call.resolve(refuse(call.service, call.requestId))
        return
      }
      deadlines.add(call)
      run(route, call).catch(reject)
    })
  return Object.assign(handle, {
    refuse(route: Route, target: string) {
      const load = capacity.loadOf(route.service)
      if (!capacity.refuse(load, kindOf(route), route.ownerOf?.(target))) return undefined
      return refuse(route.service, randomUUID())
    },
  })
}

function kindOf({ pattern, isHot = false }: Pick<Route, 'pattern' | 'isHot'>): RequestKind {
  if (!isHot) return 'app'
  return PROBES.has(pattern) ? 'probe' : 'hot'
}

const OVERLOADED = serverError('overloaded')

export const OVERLOADED_RESPONSE: HttpResponse = {
  status: OVERLOADED.status,
  contentType: 'application/json',
  headers: ['cache-control', 'no-store', 'retry-after', RETRY_AFTER_SECONDS],
  body: JSON.stringify({ error: { code: OVERLOADED.code, message: OVERLOADED.message } }),
}

/** A stream that no one reads would wait forever. */
function discardLate(response: HttpResponse | Response): void {
  if (isWebResponse(response)) response.body?.cancel().catch(() => {})
}

interface Shared {
  capacity: Capacity
  clients: ClientAddresses
  log: Log
  logOverload: OverloadLog
  now: () => number
  timeoutMs: number
}

/** Creates on first use what few requests need. */
class RunningCall implements Call, BodyBudget {
  readonly requestId: string
  readonly request: HttpRequest
  readonly receivedAt: number
  deadlineStartedAt: number
  timeoutMs: number
  load: ServiceLoad
  route: string
  errorCode: string | undefined = undefined
  isAnswered = false
  /** -1 while it has no deadline. */
  slot = -1
  #bodyBytes = 0
  #hasLeft = false
  #isInHotRoute = false
  #owner: string | undefined = undefined
  readonly resolve: (response: HttpResponse | Response) => void
  readonly #shared: Shared
  #log: Log | undefined = undefined
  #controller: AbortController | undefined = undefined
  #abortReason: Error | undefined = undefined

  constructor(
    route: Pick<Route, 'service' | 'pattern' | 'timeoutMs'>,
    request: HttpRequest,
    shared: Shared,
    resolve: (response: HttpResponse | Response) => void,
  ) {
    this.receivedAt = shared.now()
    this.deadlineStartedAt = this.receivedAt
    this.timeoutMs = route.timeoutMs ?? shared.timeoutMs
    this.load = shared.capacity.loadOf(route.service)
    this.route = route.pattern
    this.requestId = shared.clients.requestId(request)
    this.request = request
    this.resolve = resolve
    this.#shared = shared
  }

  get service(): string {
    return this.load.service
  }

  enterService(service: string): void {
    const { capacity } = this.#shared
    const load = capacity.loadOf(service)
    if (load === this.load) return
    capacity.leaveRequest(this.load)
    this.load = load
    if (capacity.enterRequest(load)) return
    // It is not counted any more.
    this.#hasLeft = true
    throw this.#overloaded()
  }

  enterHotRoute(owner: string | undefined): void {
    // Probes have no body to wait for and are always admitted.
    if (PROBES.has(this.route)) return
    if (!this.#shared.capacity.enterHotRequest(this.load, owner)) throw this.#overloaded()
    this.#isInHotRoute = true
    this.#owner = owner
  }

  #overloaded(): Error {
    this.#shared.logOverload(this.service)
    return serverError('overloaded', { headers: { 'retry-after': RETRY_AFTER_SECONDS } })
  }

  readBody(maxBytes: number): Promise<BudgetedRead> {
    return this.request.readBody(maxBytes, this)
  }

  take(bytes: number): boolean {
    if (this.#hasLeft || !this.#shared.capacity.takeBody(bytes)) return false
    this.#bodyBytes += bytes
    return true
  }

  /** The request needs nothing any more. */
  leave(): void {
    const { capacity } = this.#shared
    capacity.releaseBody(this.#bodyBytes)
    this.#bodyBytes = 0
    if (this.#isInHotRoute) capacity.leaveHotRequest(this.load, this.#owner)
    this.#isInHotRoute = false
    if (!this.#hasLeft) capacity.leaveRequest(this.load)
    this.#hasLeft = true
  }

  get log(): Log {
    return (this.#log ??= this.#shared.log.child({ requestId: this.requestId }))
  }

  get clientAddress(): string | undefined {
    return this.#shared.clients.addressOf(this.request)
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController()
      if (this.#abortReason) this.#controller.abort(this.#abortReason)
      else this.request.onDisconnect(() => this.abort(requestError('incomplete')))
    }
    return this.#controller.signal
  }

  restartDeadline(): void {
    this.deadlineStartedAt = this.#shared.now()
  }

  abort(reason: Error): void {
    this.#abortReason ??= reason
    this.#controller?.abort(reason)
  }
}

/** How late a deadline may be noticed. */
const TICK_MS = 1_000

/**
 * One timer for the deadlines of all calls: one for each would cost more than the access log. Calls are in
 * reused slots instead of a Set, because the tables a growing Set leaves behind keep finished calls alive
 * until the next full garbage collection.
 */
function createDeadlines(
  startTimer: StartTimer,
  now: () => number,
  expire: (call: RunningCall) => void,
): { add(call: RunningCall): void; delete(call: RunningCall): void } {
  const slots: (RunningCall | undefined)[] = []
  const freeSlots: number[] = []
  let isTicking = false

  function tick(): void {
    const time = now()
    for (const call of slots) {
      if (call && time - call.deadlineStartedAt >= call.timeoutMs) expire(call)
    }
    isTicking = freeSlots.length < slots.length
    if (isTicking) startTimer(TICK_MS, tick)
  }

  return {
    add(call) {
      call.slot = freeSlots.pop() ?? slots.length
      slots[call.slot] = call
      if (isTicking) return
      isTicking = true
      startTimer(TICK_MS, tick)
    },
    delete(call) {
      slots[call.slot] = undefined
      freeSlots.push(call.slot)
    },
  }
}

/** UUIDs, 32 hex digits (nginx) and ULIDs: these forms can only be ids. */
const REQUEST_ID =
  /^(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32}|[0-7][0-9A-HJKMNP-TV-Z]{25})$/

const MAX_ADDRESSES = 1_000
const MAX_ADDRESS_KEY_LENGTH = 200

interface ClientAddresses {
  requestId(request: HttpRequest): string
  addressOf(request: HttpRequest): string | undefined
}

function createClientAddresses(proxies: ProxyTrust): ClientAddresses {
  /** Senders use the same few addresses again and again. */
  const known = new Map<string, string | undefined>()

  return {
    // From anyone but a trusted proxy, an id would be a way to write into the log or to imitate another request.
    requestId({ peerAddress, rawHeaders }) {
      if (!proxies.trustsPeer(peerAddress)) return randomUUID()
      const received = joinHeader(rawHeaders, 'x-request-id')
      return received !== undefined && REQUEST_ID.test(received) ? received : randomUUID()
    },
    addressOf({ peerAddress, rawHeaders }) {
      const forwarded = proxies.trustsPeer(peerAddress)
        ? joinHeader(rawHeaders, 'x-forwarded-for')
        : undefined
      const key = `${peerAddress ?? ''} ${forwarded ?? ''}`
      if (known.has(key)) return known.get(key)
      const address = proxies.clientAddress(peerAddress, forwarded)
      if (known.size >= MAX_ADDRESSES) known.clear()
      if (key.length <= MAX_ADDRESS_KEY_LENGTH) known.set(key, address)
      return address
    },
  }
}

/** Probes call these every few seconds; a line for each would bury the others. */
const PROBES = new Set(['/healthz', '/readyz', '/metrics'])

const MAX_LINE_KINDS = 1_000

/**
 * One line and one observation for each request, by route pattern: no address, query, id or client.
 * The fields that requests of one kind share are prepared once, because every line costs CPU.
 */
function createAccessLog({ metrics, log }: Pick<HarnessOptions, 'metrics' | 'log'>) {
  const kinds = new Map<string, Log>()

  return (call: Call, method: string, status: number, durationMs: number): void => {
    const { requestId, service, route, errorCode } = call
    metrics.observeHttp({ service, route, method, status, durationSeconds: durationMs / 1000 })
    const kind = `${method} ${status} ${errorCode ?? ''} ${service} ${route}`
    let lines = kinds.get(kind)
    if (!lines) {
      const code = errorCode === undefined ? {} : { code: errorCode }
      lines = log.child({ service, method, route, status, ...code })
      if (kinds.size < MAX_LINE_KINDS) kinds.set(kind, lines)
    }
    const fields = { requestId, durationMs: Math.round(durationMs * 100) / 100 }
    if (status < 400 && PROBES.has(route)) lines.debug('request', fields)
    else lines.info('request', fields)
  }
}
