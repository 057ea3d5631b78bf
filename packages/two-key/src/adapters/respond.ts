/** What every adapter does between reading a body and calling the app's handler. */
import { type Accepted, needsOperator, type Rejected } from '../decision.ts'
import type { CheckablePayload, SlackPayload } from '../payload/parse.ts'
import type { SlackRequest, TwoKey } from '../verify.ts'

export interface SlackResponse {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** What a handler receives with a verified request. */
export interface Verified extends Accepted<HandledPayload> {
  /** The signed bytes, because the body of the request has been read. */
  rawBody: Uint8Array
}

export type HandledPayload = CheckablePayload | Extract<SlackPayload, { kind: 'app_rate_limited' }>

/** The response to Slack, or the verified request for the handler. */
export type Responded = { response: SlackResponse } | { verified: Verified }

const json = { 'content-type': 'application/json' }

export async function verifyAndRespond(
  request: SlackRequest,
  keys: TwoKey,
  options?: { deadline?: number },
): Promise<Responded> {
  const decision = await keys.verify(request, options)
  if (!decision.ok) return { response: rejectedResponse(decision) }
  const { payload, source, user, channel } = decision
  if (payload.kind === 'ssl_check') return { response: { status: 200, headers: {}, body: '' } }
  if (payload.kind === 'url_verification') {
    const body = JSON.stringify({ challenge: payload.challenge })
    return { response: { status: 200, headers: json, body } }
  }
  // A request without a body is rejected as too large.
  const rawBody = request.rawBody ?? new Uint8Array()
  return { verified: { ok: true, payload, source, user, channel, rawBody } }
}

function rejectedResponse(rejected: Rejected): SlackResponse {
  const { status, retryable, retryAfterSeconds } = rejected
  // With `rejectStatus: 200` a rejection looks like success, so it has no body either.
  if (status === 200) return { status, headers: {}, body: '' }
  return {
    status,
    headers: {
      ...json,
      ...(retryable ? {} : { 'x-slack-no-retry': '1' }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ error: errorText(rejected) }),
  }
}

function errorText(rejected: Rejected): string {
  if (needsOperator(rejected)) return 'The installation of the app needs attention'
  return ERROR_TEXTS[rejected.status] ?? 'Entity verification failed'
}

/** They do not reveal which id exists. */
const ERROR_TEXTS: Readonly<Record<number, string>> = {
  400: 'Not a Slack request',
  401: 'Invalid signature',
  413: 'Body too large',
  503: 'Entity verification is temporarily unavailable',
}

/** Frameworks compare the whole header and do not recognise a content type with parameters. */
export function bareContentType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
