/** Sends verified requests to the app, byte for byte. */
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { isForbiddenHeader } from '@strongroom/kit/safe-fetch/request-headers'

export interface UpstreamRequest {
  headers: Headers
  body: Uint8Array
  timeoutMs: number
}

/** Undefined if there was no complete response in time. */
export type SendUpstream = (
  url: string,
  request: UpstreamRequest,
) => Promise<SafeFetchResponse | undefined>

/** The largest responses to Slack are views. */
const MAX_RESPONSE_BYTES = 1024 * 1024

export function createUpstream(safeFetch: SafeFetch): SendUpstream {
  return async (url, { headers, body, timeoutMs }) => {
    try {
      return await safeFetch(url, {
        method: 'POST',
        headers: originalHeaders(headers),
        body,
        timeoutMs,
        maxResponseBytes: MAX_RESPONSE_BYTES,
      })
    } catch (error) {
      if (error instanceof SafeFetchError) return undefined
      throw error
    }
  }
}

/** All but those of the connection, so that the app can verify the signature too. */
function originalHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => !isForbiddenHeader(name)))
}
