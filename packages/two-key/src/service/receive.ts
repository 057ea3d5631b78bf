/**
 * A request of Slack on its way through both keys to the app. Events are answered when the app, or
 * a Ferryhook source, has them for good; people who wait get what the app says, in time.
 */
import type { Clock } from '@strongroom/kit/clock'
import { randomToken } from '@strongroom/kit/ids'
import type { Log } from '@strongroom/kit/log'
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { type Answer, type HandledPayload, screen } from '../adapters/screen.ts'
import { twoKeyError } from '../errors.ts'
import type { Deadlines } from '../existence/deadlines.ts'
import { InvalidSlackId } from '../keys.ts'
import type { AppRuntime, ReadyApp } from './app-runtime.ts'
import type { TwoKeyMetrics } from './metrics.ts'
import type { SendUpstream } from './upstream.ts'

export interface SlackRequest {
  app: string
  headers: Headers
  body: Uint8Array
}

export interface ReceivedAnswer extends Omit<Answer, 'body'> {
  body: string | Uint8Array
}

/** Slack waits three seconds for the answer to a person; the way back takes some of it. */
const INTERACTIVE_MS = 2_800
/** Less than a claim lasts, so that nobody takes an event up while it is being handed over. */
const EVENT_MS = 25_000

const NO_RETRY = { 'x-slack-no-retry': '1' }
const TOO_LATE =
  'Your request was received, but the app did not answer in time. Please try again in a moment.'

export function createReceiver(deps: {
  clock: Clock
  log: Log
  runtime: Pick<AppRuntime, 'get'>
  send: SendUpstream
  metrics: Pick<TwoKeyMetrics, 'handedOver'>
  deadlines: Deadlines
}): (request: SlackRequest) => Promise<ReceivedAnswer> {
  const { clock, log, runtime, send, metrics, deadlines } = deps

  /** What the store says, while Slack still waits for an answer. */
  async function stored<T>(deadline: number, asked: Promise<T>): Promise<T> {
    const found = await deadlines.within(deadline, asked)
    if (found === 'late') throw twoKeyError('store_unavailable')
    return found.value
  }

  /** Whether the app has it now. */
  async function handOver(app: ReadyApp, { headers, body }: SlackRequest): Promise<boolean> {
    const { url } = app.item.upstream
    const answer = await send(url, { headers, body, timeoutMs: EVENT_MS })
    return answer !== undefined && answer.status >= 200 && answer.status < 300
  }

  async function takeEvent(
    app: ReadyApp,
    event: string,
    request: SlackRequest,
    deadline: number,
  ): Promise<ReceivedAnswer> {
    const { events } = app.store
    const claimant = randomToken(16)
    const claiming = events.claim(event, claimant).catch((error: unknown) => {
      if (!(error instanceof InvalidSlackId)) throw error
      throw twoKeyError('invalid_event', { headers: NO_RETRY })
    })
    const claim = await stored(deadline, claiming)
    if (claim === 'processed') {
      metrics.handedOver('duplicate')
      return done
    }
    if (claim === 'in_progress') {
      metrics.handedOver('in_progress')
      throw twoKeyError('event_in_progress')
    }
    if (!(await handOver(app, request).catch(() => false))) {
      metrics.handedOver('failed')
      await events.release(event, claimant)
      throw twoKeyError('not_handed_over')
    }
    metrics.handedOver('delivered')
    // The app has it: if that cannot be written down, a second delivery is what may come of it.
    await events
      .confirm(event)
      .catch((error: unknown) => log.error('Cannot confirm an event', { error }))
    return done
  }

  async function askApp(
    app: ReadyApp,
    payload: HandledPayload,
    request: SlackRequest,
    deadline: number,
  ): Promise<ReceivedAnswer> {
    const { url, kind } = app.item.upstream
    const { headers, body } = request
    const timeoutMs = deadline - clock.now()
    const answer = timeoutMs > 0 ? await send(url, { headers, body, timeoutMs }) : undefined
    if (!answer || (kind === 'ferryhook' && answer.status >= 300)) {
      metrics.handedOver('unanswered')
      return unanswered(payload)
    }
    metrics.handedOver('answered')
    return kind === 'ferryhook' ? done : relayed(answer)
  }

  return async (request) => {
    const deadline = clock.now() + INTERACTIVE_MS
    const app = await stored(deadline, runtime.get(request.app))
    if (!app) throw twoKeyError('app_not_found', { headers: NO_RETRY })
    const screened = await screen(request.body, request.headers, app.keys)
    if ('answer' in screened) return screened.answer
    const { payload } = screened.verified
    switch (payload.kind) {
      case 'event':
      case 'uninstall':
        return takeEvent(app, payload.eventId ?? '', request, deadline)
      case 'app_rate_limited':
        if (await handOver(app, request)) return done
        throw twoKeyError('not_handed_over')
      default:
        return askApp(app, payload, request, deadline)
    }
  }
}

const done: ReceivedAnswer = { status: 200, headers: {}, body: '' }

/** A command shows its answer to who typed it; of everything else Slack tells by itself. */
function unanswered({ kind }: HandledPayload): ReceivedAnswer {
  if (kind !== 'command') throw twoKeyError('app_unavailable')
  return {
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ response_type: 'ephemeral', text: TOO_LATE }),
  }
}

function relayed({ status, headers, body }: SafeFetchResponse): ReceivedAnswer {
  const isFinal = status >= 200 && status !== 204 && (status < 300 || status >= 400)
  const contentType = headers['content-type']
  return {
    status: isFinal ? status : status === 204 ? 200 : 502,
    headers: contentType === undefined ? {} : { 'content-type': contentType },
    body: status === 204 ? '' : body,
  }
}
