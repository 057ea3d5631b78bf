/** Sends verified requests on to where an app lives, byte for byte. */
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { isForbiddenHeader } from '@strongroom/kit/safe-fetch/request-headers'

export interface UpstreamRequest {
  headers: Headers
  body: Uint8Array
  timeoutMs: number
}

/** Undefined if there was no complete answer in time. */
export type SendUpstream = (
  url: string,
  request: UpstreamRequest,
) => Promise<SafeFetchResponse | undefined>

/** Answers to Slack are small; a view is the largest. */
const MOST_ANSWER_BYTES = 1024 * 1024

export function createUpstream(safeFetch: SafeFetch): SendUpstream {
  return async (url, { headers, body, timeoutMs }) => {
    try {
      return await safeFetch(url, {
        method: 'POST',
        headers: originalHeaders(headers),
        body,
        timeoutMs,
        maxResponseBytes: MOST_ANSWER_BYTES,
      })
    } catch (error) {
      if (error instanceof SafeFetchError) return undefined
      throw error
    }
  }
}

/** All but those of the connection, so that the app can verify the signature once more. */
function originalHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !isForbiddenHeader(name)))
}
