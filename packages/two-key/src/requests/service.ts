/**
 * Verifies a Slack request and sends it to the app. An event is acknowledged once the app, or a
 * Ferryhook source, has accepted it; a person's request gets the app's own response.
 */
import type { Deadline } from '@strongroom/kit/deadline'
import { randomToken } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import type { Clock } from '@strongroom/platform/clock'
import { type HandledPayload, type SlackResponse, verifyAndRespond } from '../adapters/respond.ts'
import type { AppRegistry, LoadedApp } from '../apps/registry.ts'
import type { StartDeadline } from '../deadlines.ts'
import type { AcceptedChecks } from '../decision.ts'
import { twoKeyError } from '../errors.ts'
import { isEventId } from '../keys.ts'
import type { TwoKeyMetrics } from '../metrics.ts'
import type { SendUpstream } from './upstream.ts'

export interface ReceivedRequest {
  app: string
  headers: Headers
  body: Uint8Array
}

interface VerifiedRequest extends ReceivedRequest {
  checks: AcceptedChecks
}

export interface ForwardedResponse extends Omit<SlackResponse, 'body'> {
  body: string | Uint8Array
}

export interface RequestService {
  /** Reads the body only if the app exists. */
  handle(
    request: Omit<ReceivedRequest, 'body'>,
    readBody: () => Promise<Uint8Array>,
  ): Promise<ForwardedResponse>
}

/** Slack waits three seconds for the response to a person; the network needs some of them. */
const INTERACTIVE_MS = 2_800
/** Less than a claim lasts, so that no other worker claims an event during its delivery. */
const EVENT_MS = 25_000

const NO_RETRY = { 'x-slack-no-retry': '1' }
const TOO_LATE =
  'Your request was received, but the app did not respond in time. Please try again in a moment.'

export function createRequestService(deps: {
  clock: Clock
  log: Log
  registry: Pick<AppRegistry, 'get'>
  send: SendUpstream
  metrics: Pick<TwoKeyMetrics, 'forwarded'>
  startDeadline: StartDeadline
}): RequestService {
  const { clock, log, registry, send, metrics, startDeadline } = deps

  async function readStore<T>(deadline: Deadline, reading: Promise<T>): Promise<T> {
    const settled = await deadline.settle(reading)
    if (settled === 'late') throw twoKeyError('store_unavailable')
    return settled.value
  }

  /** Whether the app accepted it. */
  async function deliver(
    app: LoadedApp,
    { headers, body, checks }: VerifiedRequest,
  ): Promise<boolean> {
    const { url } = app.item.upstream
    const response = await send(url, { headers, body, checks, timeoutMs: EVENT_MS })
    return response !== undefined && response.status >= 200 && response.status < 300
  }

  async function deliverEvent(
    app: LoadedApp,
    event: string,
    request: VerifiedRequest,
    deadline: Deadline,
  ): Promise<ForwardedResponse> {
    const { events } = app.stores
    const claimant = randomToken(16)
    if (!isEventId(event)) throw twoKeyError('invalid_event', { headers: NO_RETRY })
    const claim = await readStore(deadline, events.claim(event, claimant))
    if (claim === 'processed') {
      metrics.forwarded('duplicate')
      return EMPTY_OK
    }
    if (claim === 'in_progress') {
      metrics.forwarded('in_progress')
      throw twoKeyError('event_in_progress')
    }
    if (!(await deliver(app, request).catch(() => false))) {
      metrics.forwarded('failed')
      await events.release(event, claimant)
      throw twoKeyError('not_handed_over')
    }
    metrics.forwarded('delivered')
    // The app has the event. If this write fails, the worst case is a second delivery.
    await events
      .confirm(event)
      .catch((error: unknown) => log.error('event confirmation failed', { error }))
    return EMPTY_OK
  }

  async function forward(
    app: LoadedApp,
    payload: HandledPayload,
    request: VerifiedRequest,
    deadline: Deadline,
  ): Promise<ForwardedResponse> {
    const { url, kind } = app.item.upstream
    const { headers, body, checks } = request
    const timeoutMs = deadline.remainingMs()
    const response =
      timeoutMs > 0 ? await send(url, { headers, body, checks, timeoutMs }) : undefined
    if (!response || (kind === 'ferryhook' && response.status >= 300)) {
      metrics.forwarded('unanswered')
      return noResponse(payload)
    }
    metrics.forwarded('answered')
    return kind === 'ferryhook' ? EMPTY_OK : toSlackResponse(response)
  }

  async function requireApp(name: string, deadline: Deadline): Promise<LoadedApp> {
    const app = await readStore(deadline, registry.get(name))
    if (!app) throw twoKeyError('app_not_found', { headers: NO_RETRY })
    return app
  }

  async function handle(request: ReceivedRequest, deadline: Deadline): Promise<ForwardedResponse> {
    const app = await requireApp(request.app, deadline)
    const { body: rawBody, headers } = request
    const latest = clock.now() + deadline.remainingMs()
    const responded = await verifyAndRespond({ rawBody, headers }, app.twoKey, { deadline: latest })
    if ('response' in responded) return responded.response
    const { payload, user, channel } = responded.verified
    const verified = { ...request, checks: { user, channel } }
    switch (payload.kind) {
      case 'event':
      case 'uninstall':
        return deliverEvent(app, payload.eventId ?? '', verified, deadline)
      case 'app_rate_limited':
        if (await deliver(app, verified)) return EMPTY_OK
        throw twoKeyError('not_handed_over')
      default:
        return forward(app, payload, verified, deadline)
    }
  }

  return {
    async handle(request, readBody) {
      const deadline = startDeadline({ ms: INTERACTIVE_MS })
      try {
        await requireApp(request.app, deadline)
        // The app may change while its body arrives, so `handle` looks it up again.
        return await handle({ ...request, body: await readBody() }, deadline)
      } finally {
        deadline.stop()
      }
    },
  }
}

const EMPTY_OK: ForwardedResponse = { status: 200, headers: {}, body: '' }

/** Slack shows a person the response to a command; for everything else it shows its own error. */
function noResponse({ kind }: HandledPayload): ForwardedResponse {
  if (kind !== 'command') throw twoKeyError('app_unavailable')
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', text: TOO_LATE }),
  }
}

function toSlackResponse({ status, headers, body }: SafeFetchResponse): ForwardedResponse {
  const isFinal = status >= 200 && status !== 204 && (status < 300 || status >= 400)
  const contentType = headers['content-type']
  return {
    status: isFinal ? status : status === 204 ? 200 : 502,
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    body: status === 204 ? '' : body,
  }
}
