/** The one place where an error becomes a response. */
import { HTTPException } from 'hono/http-exception'
import { isUnavailable } from '../db-errors.ts'
import { ApiError } from '../errors.ts'
import { requestError, serverError } from './errors.ts'
import type { Call, HttpRequest, HttpResponse } from './request.ts'

const OVERLOADED = 'server.overloaded'

/** Also logs a failure of the server, with its cause. */
export function errorResponse(thrown: unknown, request: HttpRequest, call: Call): HttpResponse {
  // The client left while it was sending: no one sees the response, and the server did not fail.
  const error = request.isAborted() ? requestError('incomplete') : toApiError(thrown)
  const { code, status, message, details, data } = error
  // An overload has thousands of these; the harness logs a few.
  if (status >= 500 && !error.isExpected && code !== OVERLOADED)
    call.log.error('request failed', { code, error: error.cause ?? error })
  call.errorCode = code
  const body = {
    error: {
      code,
      message,
      ...(details && details.length > 0 ? { details } : {}),
      ...(data ? { data } : {}),
    },
  }
  // A handler may have set a lifetime before it failed; an error must not outlive its cause.
  const headers = ['cache-control', 'no-store']
  for (const name in error.headers) headers.push(name, error.headers[name]!)
  return { status, contentType: 'application/json', headers, body: JSON.stringify(body) }
}

function toApiError(thrown: unknown): ApiError {
  if (thrown instanceof ApiError) return thrown
  if (thrown instanceof HTTPException) return fromHttpException(thrown)
  if (isFull(thrown)) return serverError('storage_full', { cause: thrown })
  if (isUnavailable(thrown))
    return serverError('unavailable', { cause: thrown, headers: { 'retry-after': '1' } })
  return serverError('internal', { cause: thrown })
}

/** What Hono and its validators throw. Only the status counts; the texts are theirs. */
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

function isFull(thrown: unknown): boolean {
  if (!(thrown instanceof Error) || !('code' in thrown)) return false
  return thrown.code === 'ENOSPC' || thrown.code === 'EDQUOT'
}
