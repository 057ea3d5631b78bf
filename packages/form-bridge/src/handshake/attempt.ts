/** How one way of proving a domain ended, and what to tell the owner of the site about it. */
import { SafeFetchError, type SafeFetchReason } from '@strongroom/kit/safe-fetch/error'
import type { SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import type { ProofMethod } from '../items/registration.ts'

const messages = {
  proved: 'The domain is proved',
  wrong_answer:
    'The proof is of another registration, or came from a cache: clear caches and retry',
  not_published: 'No proof was found there: publish the one of this registration',
  not_found: 'There is nothing at this address: see that the plugin is active',
  forbidden: 'The site refused to answer: allow it in its firewall, REST settings or password',
  rate_limited: 'The site answers too many requests at once: try again in a minute',
  server_error: 'The site answers with an error: end its maintenance mode and retry',
  not_json:
    'A page came in place of the answer: see that nothing redirects or replaces the REST API',
  redirected: 'The site redirects to another address: connect it at that address',
  timeout: 'The site did not answer in time: see that it can answer while it asks, and retry',
  tls: 'The certificate of the site is not valid: renew it',
  dns: 'The name of the site cannot be resolved: check its DNS records',
  unreachable: 'The site cannot be reached: see that its server is running',
  blocked_address: 'The name leads to an address that is not public: use one that is',
  unexpected_status: 'The site answered with a status that nobody expected: see its error log',
} as const

export type AttemptResult = keyof typeof messages

export interface Attempt {
  method: ProofMethod
  result: AttemptResult
  status?: number
  message: string
}

export function attempt(method: ProofMethod, result: AttemptResult, status?: number): Attempt {
  return { method, result, ...(status !== undefined && { status }), message: messages[result] }
}

const ofReason: Record<SafeFetchReason, AttemptResult> = {
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

/** What a failed request means; a defect is passed on. */
export function failedAttempt(method: ProofMethod, error: unknown): Attempt {
  if (!(error instanceof SafeFetchError)) throw error
  return attempt(method, ofReason[error.reason])
}

/** What a status other than 200 means. */
export function refusedAttempt(method: ProofMethod, { status }: SafeFetchResponse): Attempt {
  return attempt(method, resultOf(status), status)
}

function resultOf(status: number): AttemptResult {
  if (status === 404 || status === 410) return 'not_found'
  if (status === 401 || status === 403) return 'forbidden'
  if (status === 429) return 'rate_limited'
  return status >= 500 ? 'server_error' : 'unexpected_status'
}
