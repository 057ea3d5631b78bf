/** The one place where an error becomes an answer. */
import type { Context } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { ApiError, type ErrorStatus } from '../errors.ts'
import type { Log } from '../log.ts'
import type { AppEnv } from './env.ts'
import { requestError, serverError } from './errors.ts'

export interface ErrorAnswer {
  status: ErrorStatus
  code: string
  /** JSON. */
  body: string
  headers: Readonly<Record<string, string>>
}

/** What is answered for an error; a failure of the server is logged with its cause. */
export function errorAnswer(
  thrown: unknown,
  { isCutOff, log }: { isCutOff: boolean; log: () => Log },
): ErrorAnswer {
  const error = isCutOff ? requestError('incomplete') : asApiError(thrown)
  const { code, status, message, details, data } = error
  if (status >= 500) log().error('Cannot answer a request', { code, error: error.cause ?? error })
  const body = {
    error: {
      code,
      message,
      ...(details && details.length > 0 ? { details } : {}),
      ...(data ? { data } : {}),
    },
  }
  const headers = {
    'content-type': 'application/json',
    // A handler may have set a lifetime before it failed; an error must not outlive its reason.
    'cache-control': 'no-store',
    ...error.headers,
  }
  return { status, code, body: JSON.stringify(body), headers }
}

export function writeError(thrown: unknown, c: Context<AppEnv>): Response {
  const error = errorAnswer(thrown, { isCutOff: leftEarly(c), log: () => c.get('log') })
  c.set('errorCode', error.code)
  const answer = c.body(error.body, error.status)
  for (const [name, value] of Object.entries(error.headers)) answer.headers.set(name, value)
  return answer
}

/** The client left while it was sending: nobody sees the answer, and it is no failure of ours. */
function leftEarly(c: Context<AppEnv>): boolean {
  const env = c.env as { incoming?: { destroyed?: boolean; complete?: boolean } } | undefined
  return env?.incoming?.destroyed === true && env.incoming.complete === false
}

function asApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof HTTPException) return fromHttpException(thrown)
  if (isFull(thrown)) return serverError('storage_full', { cause: thrown })
  if (isOutage(thrown))
    return serverError('unavailable', { cause: thrown, headers: { 'retry-after': '1' } })
  return serverError('internal', { cause: thrown })
}

/** What Hono and its validators throw; the texts are theirs, so only the status is believed. */
function fromHttpException(exception: HTTPException): ApiError {
  switch (exception.status) {
    case 400:
      return exception.message.startsWith('Malformed JSON')
        ? requestError('malformed_json')
        : requestError('invalid', { cause: exception })
    case 413:
      return requestError('too_large')
    case 415:
      return requestError('unsupported_media_type')
    default:
      return serverError('internal', { cause: exception })
  }
}

/** The store or KMS says "not now": trying again is right, maybe after somebody has enabled a key. */
const OUTAGES = new Set([
  'DependencyTimeoutException',
  'DisabledException',
  'InternalServerError',
  'KMSInternalException',
  'KMSInvalidStateException',
  'KeyUnavailableException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'ServiceUnavailable',
  'StoreBusy',
  'ThrottlingException',
  'TimeoutError',
  'TransactionConflictException',
])

/** They cannot be reached at all. */
const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENOTFOUND',
  'EPIPE',
  'ETIMEDOUT',
])

function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const code = 'code' in thrown ? String(thrown.code) : ''
  return OUTAGES.has(thrown.name) || UNREACHABLE.has(code)
}

function isFull(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false
  return thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT'
}
