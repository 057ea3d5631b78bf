/** What every adapter does between a body and a handler. */
import { type Accepted, type Rejected, tooLarge } from '../decision.ts'
import type { CheckedPayload, SlackPayload, UninstallPayload } from '../payload/payload.ts'
import type { HeaderSource } from '../signature/headers.ts'
import { type TwoKey, verifySlackRequest } from '../verify.ts'

export interface Answer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

/** What a handler gets of a request that both keys have opened. */
export interface Verified extends Accepted<HandledPayload> {
  /** The body as it was signed; that of the request has been read. */
  rawBody: Uint8Array
}

export type HandledPayload =
  | CheckedPayload
  | UninstallPayload
  | Extract<SlackPayload, { kind: 'app_rate_limited' }>

export type Screened = { answer: Answer } | { verified: Verified }

const json = { 'content-type': 'application/json' }

/** Without a body it was too large to be read. */
export async function screen(
  rawBody: Uint8Array | undefined,
  headers: HeaderSource,
  keys: TwoKey,
): Promise<Screened> {
  if (rawBody === undefined) {
    keys.report(tooLarge)
    return { answer: rejection(tooLarge) }
  }
  const decision = await verifySlackRequest({ rawBody, headers }, keys)
  if (!decision.ok) return { answer: rejection(decision) }
  const { payload, source } = decision
  if (payload.kind === 'ssl_check') return { answer: { status: 200, headers: {}, body: '' } }
  if (payload.kind === 'url_verification') {
    const body = JSON.stringify({ challenge: payload.challenge })
    return { answer: { status: 200, headers: json, body } }
  }
  return { verified: { ok: true, payload, source, rawBody } }
}

function rejection(rejected: Rejected): Answer {
  const { status, retryable, retryAfterSeconds } = rejected
  // Where a no must look like a yes, it has nothing to say either.
  if (status === 200) return { status, headers: {}, body: '' }
  return {
    status,
    headers: {
      ...json,
      ...(retryable ? {} : { 'x-slack-no-retry': '1' }),
      ...(retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) }),
    },
    body: JSON.stringify({ error: texts[status] ?? 'Entity verification failed' }),
  }
}

/** They tell a stranger nothing about which id exists. */
const texts: Readonly<Record<number, string>> = {
  400: 'Not a request of Slack',
  401: 'Invalid signature',
  413: 'Body too large',
  503: 'Entity verification is not possible now',
}

/** Frameworks compare the content type to the letter, and fail where it has a parameter. */
export function bareContentType(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase()
}
