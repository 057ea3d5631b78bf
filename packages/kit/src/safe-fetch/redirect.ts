/** The next request of a redirect, and the headers that it may carry. */
import { SafeFetchError } from './error.ts'
import type { RequestHeaders } from './request-headers.ts'
import { parseUrl } from '../parse-url.ts'
import { checkTargetUrl, type TargetPolicy } from './target-url.ts'

export interface Hop {
  url: URL
  method: string
  headers: RequestHeaders
  body: string | Uint8Array | undefined
}

const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308])
/** Headers for another origin: any other could be a credential or a signature. */
const CROSS_ORIGIN_HEADERS = new Set(['accept', 'accept-language', 'content-type', 'user-agent'])

export function isRedirect(status: number, location: string | undefined): location is string {
  return REDIRECT_STATUSES.has(status) && location !== undefined
}

/** The next request of a redirect chain, checked like the first one. */
export function nextHop(
  from: Hop,
  status: number,
  location: string,
  policy: TargetPolicy,
  sameHost: boolean,
): Hop {
  const url = checkLocation(location, from.url, policy)
  if (from.url.protocol === 'https:' && url.protocol === 'http:')
    throw new SafeFetchError('redirect')
  if (sameHost && url.hostname !== from.url.hostname) throw new SafeFetchError('redirect')

  const sameOrigin = url.origin === from.url.origin
  const headers = sameOrigin
    ? from.headers
    : pickHeaders(from.headers, (name) => CROSS_ORIGIN_HEADERS.has(name))
  if (!becomesGet(status, from.method)) return { ...from, url, headers }
  return {
    url,
    method: 'GET',
    headers: pickHeaders(headers, (name) => !name.startsWith('content-')),
    body: undefined,
  }
}

function checkLocation(location: string, base: URL, policy: TargetPolicy): URL {
  const url = parseUrl(location, base)
  if (!url) throw new SafeFetchError('redirect')
  try {
    return checkTargetUrl(url, policy)
  } catch (error) {
    // The caller did not choose this URL, so the error is about the redirect.
    const invalid = error instanceof SafeFetchError && error.reason === 'invalid_url'
    throw invalid ? new SafeFetchError('redirect') : error
  }
}

/** As browsers do (Fetch standard, "HTTP-redirect fetch"). */
function becomesGet(status: number, method: string): boolean {
  if (status === 303) return method !== 'GET' && method !== 'HEAD'
  return (status === 301 || status === 302) && method === 'POST'
}

function pickHeaders(headers: RequestHeaders, keep: (name: string) => boolean): RequestHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => keep(name.toLowerCase())))
}
