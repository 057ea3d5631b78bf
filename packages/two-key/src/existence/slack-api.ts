/**
 * The few calls to Slack's Web API that key two makes. Nothing is repeated here and nothing is
 * thrown: Slack says no with status 200, and what comes in an incident may be no JSON at all.
 */
import type { Clock } from '@strongroom/kit/clock'
import { limitedBody } from '../adapters/limited-body.ts'

export type SlackMethod =
  | 'auth.test'
  | 'team.info'
  | 'users.info'
  | 'bots.info'
  | 'conversations.info'

export type SlackReply =
  | { kind: 'ok'; body: Readonly<Record<string, unknown>>; scopes: readonly string[] }
  | { kind: 'error'; error: string }
  | { kind: 'rate_limited'; retryAfterSeconds: number | undefined }
  /** No answer of Slack: a broken connection, a 5xx, a page for people. */
  | { kind: 'unreachable' }

export interface SlackApi {
  call(
    method: SlackMethod,
    args: Readonly<Record<string, string>>,
    options: { token: string; signal: AbortSignal },
  ): Promise<SlackReply>
}

export interface SlackApiOptions {
  clock: Clock
  /** Where the API is; Slack's own unless told. */
  baseUrl?: string | undefined
  fetch?: (url: string, init: RequestInit) => Promise<Response>
  onAnswered?: (method: SlackMethod, milliseconds: number) => void
}

/** What is asked for is a few kilobytes; whatever stands in Slack's place may never end. */
const MOST_BYTES = 1024 * 1024
const SLACK = 'https://slack.com/api/'

export function createSlackApi(options: SlackApiOptions): SlackApi {
  const { clock, baseUrl = SLACK, onAnswered } = options
  const base = baseUrl.endsWith('/') ? baseUrl : `${baseUrl}/`
  const send = options.fetch ?? (async (url, init) => fetch(url, init))

  return {
    async call(method, args, { token, signal }) {
      const started = clock.now()
      try {
        const answer = await send(base + method, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/x-www-form-urlencoded',
          },
          body: new URLSearchParams(args).toString(),
          // A redirect would take the token elsewhere.
          redirect: 'error',
          signal,
        })
        return await replyOf(answer)
      } catch {
        return { kind: 'unreachable' }
      } finally {
        onAnswered?.(method, clock.now() - started)
      }
    },
  }
}

async function replyOf(answer: Response): Promise<SlackReply> {
  if (answer.status === 429) {
    // What it says is not read, but the connection is only free again when it is gone.
    await answer.body?.cancel()
    return { kind: 'rate_limited', retryAfterSeconds: secondsIn(answer.headers) }
  }
  if (!answer.ok) {
    await answer.body?.cancel()
    return { kind: 'unreachable' }
  }
  const bytes = await limitedBody(answer.body ?? [], MOST_BYTES)
  if (!bytes) return { kind: 'unreachable' }
  const body: unknown = JSON.parse(Buffer.from(bytes).toString())
  if (typeof body !== 'object' || body === null || !('ok' in body)) return { kind: 'unreachable' }
  if (body.ok === true) {
    const scopes = (answer.headers.get('x-oauth-scopes') ?? '').split(',')
    const granted = scopes.map((scope) => scope.trim()).filter((scope) => scope !== '')
    return { kind: 'ok', body: { ...body }, scopes: granted }
  }
  const error = 'error' in body && typeof body.error === 'string' ? body.error : ''
  if (error === 'ratelimited' || error === 'rate_limited')
    return { kind: 'rate_limited', retryAfterSeconds: secondsIn(answer.headers) }
  return { kind: 'error', error }
}

function secondsIn(headers: Headers): number | undefined {
  const text = headers.get('retry-after') ?? ''
  return /^\d{1,6}$/.test(text) ? Number(text) : undefined
}
