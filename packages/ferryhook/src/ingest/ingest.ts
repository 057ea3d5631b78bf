/**
 * Receives webhooks. A 200 means that the event and the task to route it are stored for good; until
 * then the sender has it, and whatever goes wrong is answered so that it is sent again.
 */
import type { Clock } from '@strongroom/kit/clock'
import { ApiError } from '@strongroom/kit/errors'
import { requestError, serverError } from '@strongroom/kit/http/errors'
import type { PlainAnswer, PlainRequest } from '@strongroom/kit/http/plain-route'
import { rateLimited } from '@strongroom/kit/http/rate-limit-headers'
import type { Log } from '@strongroom/kit/log'
import type { Metrics } from '@strongroom/kit/metrics'
import type { SecretBox } from '@strongroom/kit/secret-box'
import { createKeptSecrets } from '../accounts/kept-secrets.ts'
import { type Alerts, noAlerts } from '../alerts/alert.ts'
import type { DataLayer } from '../db/data-layer.ts'
import { COMMIT_WITHIN_MS, type CreateEventInput } from '../db/event-intake.ts'
import { DuplicateEvent, Refused } from '../db/refused.ts'
import { systemTimers, type Timers } from '../delivery/timers.ts'
import { ferryhookError } from '../errors.ts'
import type { Event } from '../items/event.ts'
import { type Plan, planLimits } from '../plans.ts'
import { activeSecrets } from '../signing/secret-list.ts'
import { dedupKeyOf } from '../verification/dedup-key.ts'
import { answerHandshake } from '../verification/handshake.ts'
import type { PayPalCertificates } from '../verification/paypal-certificates.ts'
import type { SignedRequest } from '../verification/signed-request.ts'
import type { Reason } from '../verification/verdict.ts'
import { verifySignature } from '../verification/verify.ts'
import type { EventLimits } from './event-limits.ts'
import { createFailureCap } from './failure-cap.ts'
import { type KnownSource, readSource } from './known-source.ts'
import { createIngestMetrics } from './metrics.ts'
import { createMinuteLimit } from './minute-limit.ts'
import { createMonthLimit } from './month-limit.ts'
import { createOverdue } from './overdue.ts'
import { receivedHeaders } from './received-headers.ts'
import { createSourceCache } from './source-cache.ts'
import { createTally, type TallyDeps } from './tally.ts'

export interface IngestOptions {
  db: Pick<DataLayer, 'sources' | 'users' | 'events' | 'tallies'>
  clock: Clock
  secretBox: SecretBox
  /** Where senders reach the server: some sign the address that they were told. */
  publicUrl: string
  /** Called when there is an event to route. */
  hint: (sourceId: string) => void
  log: Log
  metrics: Metrics
  /** By plan; those of the plans unless told. */
  limits?: Readonly<Record<Plan, EventLimits>>
  payPalCertificates?: PayPalCertificates | undefined
  alerts?: Alerts
  later?: TallyDeps['later']
  timers?: Timers
}

export interface Ingest {
  receive(request: PlainRequest): Promise<PlainAnswer>
  /** For those who change sources and users in this process. */
  sourceChanged(sourceId: string): void
  userChanged(userId: string): void
  /** Stores what was counted and is not stored yet. */
  flush(): Promise<void>
}

/** As the item of an event has them. */
const LONGEST_QUERY = 8_192
const LONGEST_CONTENT_TYPE = 1_024

/** The store is better asked in a few seconds than at once. */
const RETRY_SECONDS = '5'

export function createIngest(options: IngestOptions): Ingest {
  const { db, clock, publicUrl, hint, log, limits = planLimits, alerts = noAlerts } = options
  const kept = createKeptSecrets(options.secretBox)
  const sources = createSourceCache({ clock, read: (id) => readSource(id, { db, kept }) })
  const minutes = createMinuteLimit(clock)
  const months = createMonthLimit(clock)
  const failures = createFailureCap(clock)
  const tally = createTally({ ...options, tallies: db.tallies, log })
  const counted = createIngestMetrics(options.metrics)
  const { timers = systemTimers } = options
  const inTime = createOverdue({ clock, timers, longestMs: COMMIT_WITHIN_MS })

  async function receive(request: PlainRequest): Promise<PlainAnswer> {
    const receivedAt = clock.now()
    const known = await sources.get(request.parameter)
    if (!known) throw ferryhookError('source_not_found')
    const { source } = known
    const headers = receivedHeaders(request.rawHeaders)
    const { method, query, body } = request
    if (query !== undefined && query.length > LONGEST_QUERY) throw ferryhookError('query_too_long')
    const url = `${publicUrl}/in/${source.sourceId}${query === undefined ? '' : `?${query}`}`
    const signed = { method, url, headers: headers.joined, body }
    if (method !== 'POST' && method !== 'PUT') return handshakeOnly(known, signed)

    const input = eventInput(known, request, headers.json, { receivedAt, signed })
    const secrets = activeSecrets(known.secrets, receivedAt)
    const reason = await whyRefused(known, signed, secrets)
    if (reason !== undefined) throw await unverified(known, input, reason)

    const verdict = known.scheme ? ('verified' as const) : ('unverified' as const)
    const handshake = { source, request: signed, verdict, scheme: known.scheme, secrets }
    const answer = answerHandshake(handshake)
    if (answer) {
      counted('handshake')
      return answer
    }
    input.dedupKey = dedupKeyOf(source, signed)
    return store(known, input)
  }

  /** Undefined if it may be taken for what it says it is. */
  async function whyRefused(
    { scheme }: KnownSource,
    request: SignedRequest,
    secrets: readonly string[],
  ): Promise<Reason | undefined> {
    if (!scheme) return undefined
    const { payPalCertificates } = options
    const now = clock.now()
    const check = { scheme, request, secrets, now, payPalCertificates }
    const verdict = await verifySignature(check)
    return verdict.ok ? undefined : verdict.reason
  }

  /** The error to answer; what was sent is kept to be seen, as long as there are not too many. */
  async function unverified(known: KnownSource, input: CreateEventInput, reason: Reason) {
    // Nobody knows whether it is wrong: the sender may well try again.
    if (reason === 'certificate_unavailable') return unavailable(new Error(reason))
    counted('unverified')
    if (failures.admits(input.sourceId, input.body.byteLength)) {
      await db.events.receive({ ...input, status: 'signature_failed', reason })
    } else tally.add(known.source, 'unverified')
    return ferryhookError('signature_failed')
  }

  async function store(known: KnownSource, input: CreateEventInput): Promise<PlainAnswer> {
    const { source, plan } = known
    const { sourceId } = source
    const month = months.decide(known, limits[plan])
    if (!month.admitted) throw monthIsFull(known)
    const full = minutes.take(sourceId, limits[plan].eventsPerMinute)
    if (full) {
      counted('limited')
      limitReached(known, 'minute')
      throw rateLimited(full)
    }
    input.quota = month.quota
    let event: Pick<Event, 'eventId'>
    try {
      event = await db.events.receive(input)
    } catch (error) {
      minutes.giveBack(sourceId)
      return notStored(known, error)
    }
    if (month.isBeyond) limitReached(known, 'beyondMonth')
    counted('received')
    hint(sourceId)
    return json({ id: event.eventId, status: 'received' })
  }

  function notStored(known: KnownSource, error: unknown): PlainAnswer {
    if (error instanceof DuplicateEvent) {
      counted('duplicate')
      return json({ id: error.eventId, status: 'received', duplicate: true })
    }
    if (!(error instanceof Refused && error.reason === 'month_limit')) throw error
    months.noteFull(known)
    throw monthIsFull(known)
  }

  function monthIsFull(known: KnownSource): ApiError {
    counted('limited')
    limitReached(known, 'month')
    const headers = { 'retry-after': String(months.secondsLeft()) }
    return ferryhookError('month_limit', { headers })
  }

  /** Told once an hour, and counted each time. */
  function limitReached({ source, plan }: KnownSource, count: 'minute' | 'month' | 'beyondMonth') {
    const { sourceId, userId } = source
    if (!tally.add(source, count)) return
    const limit = `${plan} ${count === 'minute' ? 'minute' : 'month'}`
    alerts.raise({ kind: 'limit.reached', userId, sourceId, limit })
  }

  /** GET, and HEAD, which is a GET whose answer has no body. */
  function handshakeOnly({ source }: KnownSource, signed: SignedRequest): PlainAnswer {
    const request = { ...signed, method: 'GET' }
    const answer = answerHandshake({ source, request, verdict: 'unverified' })
    if (!answer) throw requestError('method_not_allowed', { headers: { allow: 'POST, PUT' } })
    counted('handshake')
    return answer
  }

  return {
    receive: (request) =>
      inTime(receive(request)).catch((error: unknown) => {
        throw error instanceof ApiError ? error : unavailable(error)
      }),
    sourceChanged: (sourceId) => sources.forget(sourceId),
    userChanged: (userId) => sources.forgetUser(userId),
    flush: tally.flush,
  }
}

function eventInput(
  { source, plan }: KnownSource,
  { method, query, body, clientAddress }: PlainRequest,
  headers: string,
  { receivedAt, signed }: { receivedAt: number; signed: SignedRequest },
): CreateEventInput {
  const type = signed.headers['content-type']
  return {
    sourceId: source.sourceId,
    userId: source.userId,
    plan,
    receivedAt,
    method,
    query,
    headers,
    body,
    contentType: type !== undefined && type.length <= LONGEST_CONTENT_TYPE ? type : undefined,
    sourceIp: clientAddress ?? 'unknown',
  }
}

/** Whatever it was, the event is not stored and has to come again. */
function unavailable(cause: unknown): ApiError {
  return serverError('unavailable', { cause, headers: { 'retry-after': RETRY_SECONDS } })
}

function json(value: object): PlainAnswer {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(value) }
}
