/** Sends one webhook, and classifies the response. */
import type { Clock } from '@strongroom/platform/clock'
import type { SafeFetchRequest, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError, type SafeFetchReason } from '@strongroom/kit/safe-fetch/error'
import type { AttemptResult } from '../deliveries/attempt-store.ts'
import { MAX_TEXT_CHARACTERS } from '../deliveries/item.ts'
import type { IsCredentialHeader } from '../events/credential-headers.ts'
import { storedResponseHeaders } from './response-headers.ts'

/** The class of the HTTP status, or why there was none. */
export type SendOutcome =
  | 'delivered'
  | 'http_error'
  | 'gone'
  /** The event passed through Ferryhook too often. */
  | 'loop'
  | SafeFetchReason
  | 'transform'
  | 'signing'

/** Another attempt would fail in the same way until the URL or the headers are changed. */
export const permanentFailures: ReadonlySet<SendOutcome> = new Set([
  'blocked_address',
  'loop',
  'invalid_url',
  'invalid_request',
])

/** `SafeFetch`, or the test destination. */
export type Fetcher = (
  url: string,
  request: SafeFetchRequest,
) => Promise<Pick<SafeFetchResponse, 'status' | 'headers' | 'body'>>

export interface SendResult {
  attempt: AttemptResult
  end: SendOutcome
  /** From the Retry-After header. */
  retryAfterMs?: number | undefined
  /** Whether another attempt would fail in the same way. */
  isFinal?: boolean | undefined
}

/** A character has at most four bytes. */
const STORED_RESPONSE_BYTES = MAX_TEXT_CHARACTERS * 4

export async function sendWebhook(
  {
    fetcher,
    clock,
    isCredentialHeader,
  }: {
    fetcher: Fetcher
    clock: Clock
    /** Without it, the headers of the response are not stored. */
    isCredentialHeader?: IsCredentialHeader
  },
  destinationUrl: string,
  request: SafeFetchRequest,
  credentialHeaders?: readonly string[],
): Promise<SendResult> {
  const attemptedAt = clock.now()
  const attempt = (statusCode: number) => ({
    destinationUrl,
    statusCode,
    latencyMs: Math.max(0, clock.now() - attemptedAt),
    attemptedAt,
  })
  try {
    const { status, headers, body } = await fetcher(destinationUrl, request)
    const text = new TextDecoder().decode(body.subarray(0, STORED_RESPONSE_BYTES))
    const responseHeaders =
      isCredentialHeader && storedResponseHeaders(headers, isCredentialHeader, credentialHeaders)
    return {
      attempt: { ...attempt(status), responseHeaders, responseBody: text },
      end: outcomeOfStatus(status),
      retryAfterMs: parseRetryAfter(headers['retry-after'], clock.now()),
    }
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    return { attempt: { ...attempt(0), error: error.message }, end: error.reason }
  }
}

/** Redirects are not followed, so they are failures. */
function outcomeOfStatus(status: number): SendOutcome {
  if (status >= 200 && status < 300) return 'delivered'
  if (status === 508) return 'loop'
  return status === 410 ? 'gone' : 'http_error'
}

/** Parses Retry-After, seconds or a date (RFC 9110 section 10.2.3), to milliseconds. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d{1,10}$/.test(text)) return Number(text) * 1000
  // `Date.parse` accepts many formats that HTTP does not.
  if (!/^[A-Z][a-z]{2,8}[, ]/.test(text)) return undefined
  const at = Date.parse(/(?:GMT|[+-]\d{4})$/.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
