/** One request: idle timeout, failure codes. */
import { readChunks } from '@strongroom/platform/response-chunks'
import { RequestFailed, type RequestFailure } from './errors.ts'

export interface Request {
  method: 'POST' | 'DELETE'
  url: string
  headers?: Record<string, string>
  body?: object
}

export type Fetch = typeof globalThis.fetch

/** The parsed body of a success; undefined if it has none. Throws `RequestFailed` otherwise. */
export async function send(
  { method, url, headers = {}, body }: Request,
  { fetch, idleTimeoutMs }: { fetch: Fetch; idleTimeoutMs: number },
): Promise<unknown> {
  const idle = createIdleTimeout(idleTimeoutMs)
  let response: Response
  let text: string
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      // Requests must not reach another server.
      redirect: 'manual',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: idle.signal,
    })
    text = await readText(response, idle)
  } catch (error) {
    throw new RequestFailed(isConnectionError(error) ? 'unreachable' : 'lost')
  } finally {
    idle.stop()
  }
  // Browsers hide the target and the status of a redirect.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    throw new RequestFailed('redirected')
  }
  const parsed = parse(text)
  if (response.ok) return parsed
  throw toRequestFailed(response, parsed)
}

interface IdleTimeout {
  signal: AbortSignal
  reset: () => void
  stop: () => void
}

/** Aborts when no data arrives for `ms`. Every chunk resets it. */
function createIdleTimeout(ms: number): IdleTimeout {
  const controller = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => clearTimeout(timer)
  const reset = () => {
    stop()
    timer = setTimeout(() => controller.abort(), ms)
  }
  reset()
  return { signal: controller.signal, reset, stop }
}

/** Has no total timeout: aborting a slow response would lose a view that is already counted. */
async function readText(
  { body }: Response,
  { signal, reset }: Pick<IdleTimeout, 'signal' | 'reset'>,
): Promise<string> {
  if (!body) return ''
  const decoder = new TextDecoder()
  let text = ''
  reset()
  for await (const chunk of readChunks(body, signal)) {
    reset()
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** Node's codes for a failed connection; browsers give none. */
const CONNECTION_ERROR_CODES = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'UND_ERR_CONNECT_TIMEOUT',
])

function isConnectionError(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  return CONNECTION_ERROR_CODES.has(code) || /CERT|TLS|SSL|UNABLE_TO/.test(code)
}

/** Undefined if it is not JSON, such as the error page of a proxy. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const FAILURE_BY_CODE = new Map<string, RequestFailure>([
  ['sealed.not_available', 'not_available'],
  ['sealed.wrong_passphrase', 'wrong_passphrase'],
  ['sealed.invalid_token', 'invalid_token'],
  ['sealed.invalid_api_token', 'invalid_api_token'],
  ['sealed.invalid_pow', 'invalid_pow'],
  ['sealed.invalid_request', 'invalid_request'],
  ['sealed.full', 'full'],
  ['request.invalid', 'invalid_request'],
  ['request.too_large', 'invalid_request'],
])

function toRequestFailed({ status, headers }: Response, body: unknown): RequestFailed {
  const { code, data } = parseError(body)
  const retryAfterSeconds = parseRetryAfter(headers.get('retry-after'))
  if (status === 429) return new RequestFailed('rate_limited', { retryAfterSeconds })
  const known = FAILURE_BY_CODE.get(code)
  if (known !== undefined) {
    const triesLeft = typeof data['triesLeft'] === 'number' ? data['triesLeft'] : undefined
    return new RequestFailed(known, { triesLeft })
  }
  if (status >= 500) return new RequestFailed('unavailable', { retryAfterSeconds })
  return new RequestFailed('not_sealed')
}

function parseError(body: unknown): { code: string; data: Record<string, unknown> } {
  const { error } = (body ?? {}) as { error?: { code?: unknown; data?: unknown } | null }
  return {
    code: typeof error?.code === 'string' ? error.code : '',
    data: typeof error?.data === 'object' ? { ...error.data } : {},
  }
}

function parseRetryAfter(header: string | null): number | undefined {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : undefined
}
