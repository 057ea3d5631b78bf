/**
 * The calls to Slack's Web API that key two needs. It neither retries nor throws: Slack reports errors
 * with status 200, and during an incident a response may not be JSON at all.
 */
import type { Clock } from '@strongroom/platform/clock'
import { readStream } from '@strongroom/platform/read-body'
import { readChunks } from '@strongroom/platform/response-chunks'

export type SlackMethod =
  | 'auth.test'
  | 'team.info'
  | 'users.info'
  | 'bots.info'
  | 'conversations.info'

export type SlackReply =
  | { kind: 'ok'; body: Readonly<Record<string, unknown>>; scopes: readonly string[] }
  /** `needed` has the scopes that a `missing_scope` names. */
  | { kind: 'error'; error: string; needed: readonly string[] }
  | { kind: 'rate_limited'; retryAfterSeconds: number | undefined }
  /** No usable response: a broken connection, a 5xx, an HTML page. */
  | { kind: 'unreachable' }

export interface SlackApi {
  call(
    method: SlackMethod,
    args: Readonly<Record<string, string>>,
    options: { token: string; signal: AbortSignal },
  ): Promise<SlackReply>
  /** Exchanges the code of an installation for its tokens (`oauth.v2.access`). */
  exchangeCode(
    args: Readonly<Record<string, string>>,
    options: { clientId: string; clientSecret: string; signal: AbortSignal },
  ): Promise<SlackReply>
}

export interface SlackApiOptions {
  clock: Clock
  /** By default Slack's own API. */
  baseUrl?: string | undefined
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  onResponse?: (method: SlackMethod, milliseconds: number) => void
}

/** Responses have a few kilobytes; a broken proxy may send an endless body. */
const MAX_RESPONSE_BYTES = 1024 * 1024
const SLACK_API_URL = 'https://slack.com/api/'

export function createSlackApi(options: SlackApiOptions): SlackApi {
  const { clock, baseUrl = SLACK_API_URL, onResponse } = options
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`
  const send = options.fetch ?? (async (url, init) => fetch(url, init))

  async function post(
    method: string,
    args: Readonly<Record<string, string>>,
    { authorization, signal }: { authorization: string; signal: AbortSignal },
  ): Promise<SlackReply> {
    try {
      const response = await send(base + method, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams(args).toString(),
        // A redirect would send the token elsewhere.
        redirect: 'error',
        signal,
      })
      return await readReply(response, signal)
    } catch {
      return { kind: 'unreachable' }
    }
  }

  return {
    async call(method, args, { token, signal }) {
      const startedAt = clock.now()
      const reply = await post(method, args, { authorization: `Bearer ${token}`, signal })
      onResponse?.(method, clock.now() - startedAt)
      return reply
    },

    async exchangeCode(args, { clientId, clientSecret, signal }) {
      // RFC 6749, section 2.3.1: both are form-encoded before they are joined.
      const client = [clientId, clientSecret].map(encodeURIComponent).join(':')
      const authorization = `Basic ${Buffer.from(client).toString('base64')}`
      return post('oauth.v2.access', args, { authorization, signal })
    },
  }
}

async function readReply(response: Response, signal: AbortSignal): Promise<SlackReply> {
  if (response.status === 429) {
    // An unread body would keep the connection busy.
    await response.body?.cancel()
    return { kind: 'rate_limited', retryAfterSeconds: retryAfterIn(response.headers) }
  }
  if (!response.ok) {
    await response.body?.cancel()
    return { kind: 'unreachable' }
  }
  const chunks = response.body ? readChunks(response.body, signal) : []
  const read = await readStream(chunks, MAX_RESPONSE_BYTES)
  if (read.kind === 'too_large') return { kind: 'unreachable' }
  const body: unknown = JSON.parse(Buffer.from(read.bytes).toString())
  if (typeof body !== 'object' || body === null || !('ok' in body)) return { kind: 'unreachable' }
  if (body.ok === true) {
    const scopes = scopesIn(response.headers.get('x-oauth-scopes'))
    return { kind: 'ok', body: { ...body }, scopes }
  }
  const error = 'error' in body && typeof body.error === 'string' ? body.error : ''
  if (error === 'ratelimited' || error === 'rate_limited')
    return { kind: 'rate_limited', retryAfterSeconds: retryAfterIn(response.headers) }
  return { kind: 'error', error, needed: 'needed' in body ? scopesIn(body.needed) : [] }
}

function retryAfterIn(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined
}

const SCOPE = /^[a-z][a-z0-9_.:]{1,63}$/
const MAX_SCOPES = 200

/** The names of scopes in a list with commas. Anything else is dropped, because they are logged. */
function scopesIn(list: unknown): readonly string[] {
  if (typeof list !== 'string') return []
  const names = list.split(',', MAX_SCOPES).map((scope) => scope.trim())
  return names.filter((name) => SCOPE.test(name))
}
