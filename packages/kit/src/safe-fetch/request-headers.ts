/** The headers that a tenant may set on an outbound request. */
import { SafeFetchError } from './error.ts'

export type RequestHeaders = Readonly<Record<string, string | readonly string[]>>

/**
 * Framing, routing and hop-by-hop headers (RFC 9110 section 7.6.1), which the client sets; cookies,
 * which a destination would mistake for its own; and accept-encoding, which is always identity, so
 * that no response can be a decompression bomb.
 */
const FORBIDDEN = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'cookie',
  'cookie2',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
// RFC 9110 section 5.5: visible characters, spaces, tabs and opaque bytes; no CR, LF or NUL.
const FIELD_VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/

/** Whether the client sets the header itself, so that it cannot be set or forwarded. */
export function isForbiddenHeader(name: string): boolean {
  return FORBIDDEN.has(name.toLowerCase())
}

/** Throws `invalid_request` with the name of the header, never its value. */
export function checkHeader(name: string, value: string): void {
  if (!TOKEN.test(name)) throw invalid('Header name must be letters, digits and hyphens')
  if (isForbiddenHeader(name)) throw invalid(`Header ${name} cannot be set: leave it out`)
  if (!FIELD_VALUE.test(value)) {
    throw invalid(`Header ${name} must not contain line breaks or characters beyond Latin-1`)
  }
}

/** The headers to send, with lower-case names. */
export function buildRequestHeaders(
  headers: RequestHeaders,
  defaults: RequestHeaders,
): Record<string, string | string[]> {
  const outgoing: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(defaults)) outgoing[name] = sendable(value)
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string') checkHeader(name, value)
    else for (const single of value) checkHeader(name, single)
    outgoing[name.toLowerCase()] = sendable(value)
  }
  outgoing['accept-encoding'] = 'identity'
  return outgoing
}

function sendable(value: string | readonly string[]): string | string[] {
  return typeof value === 'string' ? value : [...value]
}

function invalid(message: string): SafeFetchError {
  return new SafeFetchError('invalid_request', { message })
}
