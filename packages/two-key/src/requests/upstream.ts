/** Sends verified requests to the app, byte for byte. */
import type { AcceptedChecks } from '../decision.ts'
import type { SafeFetch, SafeFetchResponse } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'

export interface UpstreamRequest {
  headers: Headers
  /** What was verified; the app gets it in headers. */
  checks: AcceptedChecks
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
  return async (url, { headers, checks, body, timeoutMs }) => {
    try {
      return await safeFetch(url, {
        method: 'POST',
        headers: { ...slackHeaders(headers), ...checkHeaders(checks) },
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

/**
 * The headers that Slack sends, so that the app can verify the signature too. No other header is
 * forwarded: the signature does not cover headers, and an app may believe those of its own proxy.
 */
const SLACK_HEADERS = /^(?:accept|content-type|user-agent|x-slack-[a-z0-9-]+)$/

function slackHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries([...headers].filter(([name]) => SLACK_HEADERS.test(name)))
}

/** The same headers of a request are not Slack's, so they never reach the app. */
function checkHeaders({ user, channel }: AcceptedChecks): Record<string, string> {
  return { 'x-two-key-user': user, 'x-two-key-channel': channel }
}
