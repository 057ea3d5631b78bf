/** The result of one proof method, with a message for the owner of the site. */
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError, type SafeFetchReason } from '@strongroom/kit/safe-fetch/error'
import type { ProofMethod } from '../registrations/item.ts'

const MESSAGES = {
  proved: 'The domain is proved.',
  wrong_answer:
    'The proof belongs to another registration or came from a cache. Clear all caches and try again.',
  not_published: 'No proof was found. Publish the proof of this registration.',
  not_found: 'The address was not found. Check that the plugin is active.',
  forbidden:
    'The site denied the request. Allow it in the firewall, the REST API settings or the password protection.',
  rate_limited: 'The site received too many requests. Try again in a minute.',
  server_error: 'The site responded with an error. End its maintenance mode and try again.',
  not_json:
    'The site responded with a page that is not JSON. Check that nothing redirects or replaces the REST API.',
  redirected: 'The site redirects to another address. Connect it at that address.',
  timeout:
    'The site did not respond in time. Check that it can respond while it sends a request, and try again.',
  tls: 'The TLS certificate of the site is not valid. Renew it.',
  dns: 'The host name of the site cannot be resolved. Check its DNS records.',
  unreachable: 'The site cannot be reached. Check that its server is running.',
  blocked_address: 'The host name resolves to an address that is not public. Use a public one.',
  unexpected_status: 'The site responded with an unexpected status. Check its error log.',
} as const

export type AttemptResult = keyof typeof MESSAGES

export interface Attempt {
  method: ProofMethod
  result: AttemptResult
  status?: number
  message: string
}

export function attempt(method: ProofMethod, result: AttemptResult, status?: number): Attempt {
  return { method, result, ...(status !== undefined && { status }), message: MESSAGES[result] }
}

const RESULT_OF_REASON: Record<SafeFetchReason, AttemptResult> = {
  invalid_url: 'redirected',
  invalid_request: 'unreachable',
  blocked_address: 'blocked_address',
  dns: 'dns',
  connection: 'unreachable',
  tls: 'tls',
  timeout: 'timeout',
  too_large: 'unexpected_status',
  redirect: 'redirected',
  aborted: 'timeout',
}

/** For a request without a response. */
export function failedAttempt(method: ProofMethod, error: unknown): Attempt {
  if (!(error instanceof SafeFetchError)) throw error
  return attempt(method, RESULT_OF_REASON[error.reason])
}

/** For a response with a status other than 200. */
export function statusAttempt(method: ProofMethod, { status }: SafeFetchResponse): Attempt {
  return attempt(method, resultOf(status), status)
}

function resultOf(status: number): AttemptResult {
  if (status === 404 || status === 410) return 'not_found'
  if (status === 401 || status === 403) return 'forbidden'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'unexpected_status'
}
