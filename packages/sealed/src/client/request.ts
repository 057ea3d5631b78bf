/** One request, and what its answer means. */
import { RequestFailed, type RequestFailure } from './errors.ts'
import { silenceAfter } from './silence.ts'

export interface Request {
  method: 'POST' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: object
}

export type Fetch = typeof globalThis.fetch

/** The parsed body of a success; undefined if it has none. Throws `RequestFailed` for all else. */
export async function send(
  { method, url, headers = {}, body }: Request,
  { fetch, silenceMs }: { fetch: Fetch; silenceMs: number },
): Promise<unknown> {
  const silence = silenceAfter(silenceMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      // What goes to one server is meant for no other.
      redirect: 'manual',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: silence.signal,
    })
    text = await textOf(response, silence.isOver)
  } catch (error) {
    throw new RequestFailed(wasNeverSent(error) ? 'unreachable' : 'lost')
  } finally {
    silence.end()
  }
  // A browser shows of a redirect only that there is one.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    throw new RequestFailed('redirected')
  }
  const parsed = parse(text)
  if (response.ok) return parsed
  throw failureOf(response, parsed)
}

/** However slowly it comes: whoever gives up on an answer that is coming loses the view it has taken. */
async function textOf({ body }: Response, onPart: () => void): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  for (;;) {
    onPart()
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    text += decoder.decode(value, { stream: true })
  }
}

/** What Node says of a connection that did not come about; browsers say nothing. */
const NO_CONNECTION = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

function wasNeverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return NO_CONNECTION.has(code) || /CERT|TLS|SSL|UNABLE_TO/.test(code)
}

/** Undefined for what is no JSON, such as the page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const FAILURES = new Map<string, RequestFailure>([
  ['sealed.not_available', 'not_available'],
  ['sealed.wrong_passphrase', 'wrong_passphrase'],
  ['sealed.invalid_token', 'invalid_token'],
  ['sealed.invalid_pow', 'invalid_pow'],
  ['sealed.invalid_request', 'invalid_request'],
  ['sealed.full', 'full'],
  ['request.invalid', 'invalid_request'],
  ['request.too_large', 'invalid_request'],
])

function failureOf({ status, headers }: Response, body: unknown): RequestFailed {
  const { code, data } = errorIn(body)
  const retryAfterSeconds = secondsIn(headers.get('retry-after'))
  if (status === 429) return new RequestFailed('rate_limited', { retryAfterSeconds })
  const known = FAILURES.get(code)
  if (known !== undefined) {
    const triesLeft = typeof data['triesLeft'] === 'number' ? data['triesLeft'] : undefined
    return new RequestFailed(known, { triesLeft })
  }
  if (status >= 500) return new RequestFailed('unavailable', { retryAfterSeconds })
  return new RequestFailed('not_sealed')
}

function errorIn(body: unknown): { code: string; data: Record<string, unknown> } {
  const { error } = (body ?? {}) as { error?: { code?: unknown; data?: unknown } | null }
  return {
    code: typeof error?.code === 'string' ? error.code : '',
    data: typeof error?.data === 'object' ? { ...error.data } : {},
  }
}

function secondsIn(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}
