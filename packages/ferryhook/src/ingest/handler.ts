/**
 * Receives webhooks. A 200 means that the event and the task to route it are stored durably. Until
 * then the sender is responsible for the event, so every failure asks it to retry.
 */
import type { Clock } from '@strongroom/platform/clock'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import { StoreBusy } from '@strongroom/kit/db-errors'
import { ApiError } from '@strongroom/kit/errors'
import { requestError, serverError } from '@strongroom/kit/http/errors'
import type { HotRequest, HotRequestHead } from '@strongroom/kit/http/hot-routes'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { HttpResponse } from '@strongroom/kit/http/request'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { type Alerts, noAlerts } from '../alerts/alert.ts'
import { ferryhookError } from '../errors.ts'
import { createCredentialRule, type IsCredentialHeader } from '../events/credential-headers.ts'
import {
  COMMIT_DEADLINE_MS,
  type CreateEventInput,
  DuplicateEvent,
} from '../events/event-insert.ts'
import type { Event } from '../events/item.ts'
import { type Plan, planLimits } from '../plans.ts'
import { createSealedSecrets } from '../signing/sealed-secrets.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { hopsOf, MAX_HOPS } from '../outbound/hops.ts'
import { WriteRejected } from '../storage/write-rejected.ts'
import { MAX_UNITS_BEFORE_YIELD, type WorkScheduler } from '../sandbox/work-scheduler.ts'
import type { Source } from '../sources/item.ts'
import type { Stores } from '../stores.ts'
import type { Reservation } from '../worker/worker.ts'
import { dedupKeyOf } from '../verification/dedup-key.ts'
import { answerHandshake } from '../verification/handshake.ts'
import type { PayPalCertificatesOf } from '../verification/paypal-certificates.ts'
import type { FailureReason } from '../verification/scheme.ts'
import { verifySignature } from '../verification/schemes.ts'
import type { SignedRequest } from '../verification/signed-request.ts'
import { createIngestCounters } from './counters.ts'
import { createDeadline } from './deadline.ts'
import { parseHeaders, type ParsedHeaders } from './headers.ts'
import {
  createMinuteLimit,
  createMonthLimit,
  createRejectedCap,
  type EventLimits,
} from './limits.ts'
import { createIngestMetrics } from './metrics.ts'
import { type CachedSource, createSourceCache, loadSource } from './source-cache.ts'

export interface IngestOptions {
  stores: Pick<Stores, 'sources' | 'users' | 'events' | 'ingestCounters'>
  clock: Clock
  secretBox: SecretBox
  /** The address that senders use; some of them sign it. */
  publicUrl: string
  /** Reserves the worker of this process for an event, so that it is stored with its claim. */
  reserve?: ((source: Source) => Promise<Reservation | undefined>) | undefined
  /** Called when an event is stored; unless it was reserved, a worker has to route it. */
  onStored: (event: Event, isReserved: boolean) => void
  log: Log
  metrics: Metrics
  /** Defaults to the limits of the plans. */
  limits?: Readonly<Record<Plan, EventLimits>>
  payPalCertificates?: PayPalCertificatesOf | undefined
  /** Defaults to the rules without exemptions of the operator. */
  isCredentialHeader?: IsCredentialHeader
  alerts?: Alerts
  startTimer?: StartTimer
  /** Shared with the other work of the process. */
  scheduler?: Pick<WorkScheduler, 'run'>
}

/** Smaller bodies are parsed in less than a millisecond. */
const LARGE_BODY_BYTES = 16_384

export interface Ingest {
  /** Whether there is such a source that takes the method, before its body is read. */
  admit(request: HotRequestHead): Promise<void> | undefined
  /** The user that a source belongs to, if it is cached. */
  ownerOf(sourceId: string): string | undefined
  receive(request: HotRequest): Promise<HttpResponse>
  /** To call when this process changes a source. */
  invalidateSource(sourceId: string): void
  /** To call when this process changes a user. */
  invalidateUser(userId: string): void
  /** Stores the counts that are only in memory. */
  flush(): Promise<void>
}

/** What the item of an event can store. */
const MAX_QUERY_LENGTH = 8_192
const MAX_CONTENT_TYPE_LENGTH = 1_024

/** A store that fails now is more likely to work in a few seconds. */
const RETRY_AFTER_SECONDS = '5'

export function createIngest(options: IngestOptions): Ingest {
  const { stores, clock, publicUrl, onStored, log } = options
  const { limits = planLimits, alerts = noAlerts, startTimer = startBackgroundTimer } = options
  const { isCredentialHeader = createCredentialRule() } = options
  const sealedSecrets = createSealedSecrets(options.secretBox)
  const sources = createSourceCache({
    clock,
    load: (id) => loadSource(id, stores, { sealedSecrets, isCredentialHeader }),
  })
  const minuteLimit = createMinuteLimit(clock)
  const monthLimit = createMonthLimit(clock)
  const rejectedCap = createRejectedCap(clock)
  const counters = createIngestCounters({ ...options, store: stores.ingestCounters, log })
  const countOutcome = createIngestMetrics(options.metrics)
  const withDeadline = createDeadline({ clock, startTimer, maxMs: COMMIT_DEADLINE_MS })

  async function receive(request: HotRequest): Promise<HttpResponse> {
    const receivedAt = clock.now()
    const cached = await sources.get(request.parameter)
    if (!cached) throw ferryhookError('source_not_found')
    const { source, scheme } = cached
    const headers = parseHeaders(request.rawHeaders, (name) =>
      isCredentialHeader(name, source.credentialHeaders),
    )
    const { method, query, body } = request
    if (query !== undefined && query.length > MAX_QUERY_LENGTH) {
      throw ferryhookError('query_too_long')
    }
    const url = `${publicUrl}/in/${source.sourceId}${query === undefined ? '' : `?${query}`}`
    const signed = { method, url, headers: headers.joined, body }
    if (isRead(method)) return answerGet(cached, signed)
    requireMethod(cached, method)

    const event = toEventInput(request, cached, headers, receivedAt)
    const secrets = activeSecrets(cached.secrets, receivedAt)
    const failure = await verificationFailure(cached, signed, secrets)
    if (failure !== undefined) throw await rejectUnverified(cached, event, signed, failure)

    // Handshakes and ids of events are found by parsing the body, one large body in a turn.
    if (signed.body.byteLength >= LARGE_BODY_BYTES) {
      await options.scheduler?.run(source.userId, (budget) => budget.spend(MAX_UNITS_BEFORE_YIELD))
    }
    // Providers sign handshakes too, so answer them only after verification.
    const handshake = answerHandshake({ source, request: signed, scheme, secrets })
    if (handshake) {
      countOutcome('handshake')
      return handshake
    }
    if (hopsOf(headers.joined) > MAX_HOPS) throw await rejectLoop(cached, event, signed)
    event.dedupKey = dedupKeyOf(source, signed)
    event.eventType = cached.readEventType(signed)
    return store(cached, event)
  }

  /** Undefined if the signature is valid, or the source does not verify signatures. */
  async function verificationFailure(
    { source, scheme }: CachedSource,
    request: SignedRequest,
    secrets: readonly string[],
  ): Promise<FailureReason | undefined> {
    if (!scheme) return undefined
    const payPalCertificates = options.payPalCertificates?.(source.sourceId)
    const now = clock.now()
    const result = await verifySignature({ scheme, request, secrets, now, payPalCertificates })
    return result.ok ? undefined : result.reason
  }

  /** Stores a limited number of rejected events for their owner to inspect. */
  async function rejectUnverified(
    { source, readEventType }: CachedSource,
    event: CreateEventInput,
    request: SignedRequest,
    reason: FailureReason,
  ): Promise<ApiError> {
    // The signature may be valid, so the sender should retry.
    if (reason === 'certificate_unavailable') return unavailable({ isExpected: true })
    countOutcome('unverified')
    if (rejectedCap.take(event.sourceId, event.body.byteLength)) {
      event.eventType = readEventType(request)
      await stores.events.create({ ...event, status: 'signature_failed', reason })
    } else counters.add(source, 'unverified')
    return ferryhookError('signature_failed')
  }

  /** Stores a limited number of them, like events with an invalid signature. */
  async function rejectLoop(
    { readEventType }: CachedSource,
    event: CreateEventInput,
    request: SignedRequest,
  ): Promise<ApiError> {
    countOutcome('looped')
    if (rejectedCap.take(event.sourceId, event.body.byteLength)) {
      event.eventType = readEventType(request)
      await stores.events.create({ ...event, status: 'failed', reason: 'loop' })
    }
    return ferryhookError('loop', { isExpected: true })
  }

  async function store(cached: CachedSource, input: CreateEventInput): Promise<HttpResponse> {
    const { source, plan } = cached
    const { sourceId } = source
    const month = monthLimit.decide(cached, limits[plan])
    if (!month.admitted) throw rejectForMonth(cached)
    const exceeded = minuteLimit.take(sourceId, limits[plan].eventsPerMinute)
    if (exceeded) {
      countOutcome('limited')
      reportLimit(cached, 'minute')
      throw rateLimited(exceeded)
    }
    input.quota = month.quota
    let event: Event
    let reserved: Reservation | undefined
    try {
      reserved = await options.reserve?.(source)
      input.lease = reserved?.lease
      event = await stores.events.create(input)
    } catch (error) {
      reserved?.cancel()
      minuteLimit.release(sourceId)
      if (error instanceof DuplicateEvent) {
        countOutcome('duplicate')
        return json({ id: error.eventId, status: 'received', duplicate: true })
      }
      if (!(error instanceof WriteRejected && error.reason === 'month_limit')) throw error
      monthLimit.markFull(cached)
      throw rejectForMonth(cached)
    }
    reserved?.deliver({ event, body: input.body })
    if (month.isBeyond) reportLimit(cached, 'beyondMonth')
    countOutcome('received')
    onStored(event, reserved !== undefined)
    return json({ id: event.eventId, status: 'received' })
  }

  function rejectForMonth(cached: CachedSource): ApiError {
    countOutcome('limited')
    reportLimit(cached, 'month')
    const headers = { 'retry-after': String(monthLimit.secondsLeft()) }
    return ferryhookError('month_limit', { headers })
  }

  /** Counts every time, but raises an alert only once an hour. */
  function reportLimit({ source, plan }: CachedSource, name: 'minute' | 'month' | 'beyondMonth') {
    const { sourceId, userId } = source
    if (!counters.add(source, name)) return
    const limit = `${plan} ${name === 'minute' ? 'minute' : 'month'}`
    alerts.raise({ kind: 'limit.reached', userId, sourceId, limit })
  }

  /** A GET or HEAD can only be a handshake. */
  function answerGet(cached: CachedSource, signed: SignedRequest): HttpResponse {
    const { source } = cached
    const handshake = answerHandshake({ source, request: { ...signed, method: 'GET' } })
    if (!handshake) throw methodNotAllowed(cached)
    countOutcome('handshake')
    return handshake
  }

  async function requireSource({ method, parameter }: HotRequestHead): Promise<void> {
    const startedAt = clock.now()
    const cached = await sources.get(parameter)
    if (!cached) throw ferryhookError('source_not_found')
    if (!isRead(method)) requireMethod(cached, method)
    // The sender has given up by now and would not see the response.
    if (clock.now() - startedAt > COMMIT_DEADLINE_MS) {
      throw new StoreBusy('Cannot read a source: the store does not respond')
    }
  }

  return {
    admit(head) {
      const known = sources.peek(head.parameter)
      if (known === 'missing') throw ferryhookError('source_not_found')
      if (!known) return withDeadline(requireSource(head)).catch(rethrow)
      // Most sources are cached, and then there is no promise to wait for.
      if (!isRead(head.method)) requireMethod(known, head.method)
      return undefined
    },
    ownerOf(sourceId) {
      const known = sources.peek(sourceId)
      return known && known !== 'missing' ? known.source.userId : undefined
    },
    receive: (request) => withDeadline(receive(request)).catch(rethrow),
    invalidateSource: sources.invalidate,
    invalidateUser: sources.invalidateUser,
    flush: counters.flush,
  }
}

function toEventInput(
  { method, query, body, clientAddress }: HotRequest,
  { source, plan }: CachedSource,
  { joined, json: headers }: ParsedHeaders,
  receivedAt: number,
): CreateEventInput {
  const type = joined['content-type']
  return {
    sourceId: source.sourceId,
    userId: source.userId,
    plan,
    receivedAt,
    method,
    query,
    headers,
    body,
    contentType: type !== undefined && type.length <= MAX_CONTENT_TYPE_LENGTH ? type : undefined,
    sourceIp: clientAddress ?? 'unknown',
  }
}

/** Reading requests are handshakes, never events. */
function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

function requireMethod(source: CachedSource, method: string): void {
  if (!source.methods.includes(method)) throw methodNotAllowed(source)
}

function methodNotAllowed({ methods }: CachedSource): ApiError {
  return requestError('method_not_allowed', { headers: { allow: methods.join(', ') } })
}

function rethrow(error: unknown): never {
  throw error instanceof ApiError ? error : unavailable({ cause: error })
}

/** The event is not stored, whatever the cause, so the sender has to retry. */
function unavailable(options: { cause: unknown } | { isExpected: true }): ApiError {
  return serverError('unavailable', {
    ...options,
    headers: { 'retry-after': RETRY_AFTER_SECONDS },
  })
}

function json(value: object): HttpResponse {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) }
}
