/** Signatures of requests, as docs/form-bridge-protocol.md defines them. */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import type { Context } from 'hono'

export const MAX_CLOCK_SKEW_SECONDS = 300

export interface RequestBytes {
  method: string
  /** Path and query as in the request line. */
  target: string
  body: Uint8Array
}

export interface SignatureHeaders {
  site_id: string
  timestamp: number
  nonce: string
  /** The hex digits after `v1=`. */
  signature: string
}

export function canonicalRequest(
  { method, target, body }: RequestBytes,
  { timestamp, nonce }: Pick<SignatureHeaders, 'timestamp' | 'nonce'>,
): string {
  const digest = createHash('sha256').update(body).digest('hex')
  return `FB1\n${timestamp}\n${nonce}\n${method}\n${target}\n${digest}`
}

export function signText(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

export function verifySignature(secret: string, text: string, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(text).digest()
  return timingSafeEquals(expected, Buffer.from(signature, 'hex'))
}

export const HEADER_PATTERNS = {
  site: /^site_[A-Za-z0-9_-]{16}$/,
  timestamp: /^[1-9][0-9]{9}$/,
  nonce: /^[0-9a-f]{32}$/,
  signature: /^v1=[0-9a-f]{64}$/,
}

/** Undefined if a header is missing or malformed. */
export function parseSignatureHeaders(
  header: (name: string) => string | undefined,
): SignatureHeaders | undefined {
  const [site_id = '', timestamp = '', nonce = '', signature = ''] = [
    header('x-fb-site'),
    header('x-fb-timestamp'),
    header('x-fb-nonce'),
    header('x-fb-signature'),
  ]
  const isValid =
    HEADER_PATTERNS.site.test(site_id) &&
    HEADER_PATTERNS.timestamp.test(timestamp) &&
    HEADER_PATTERNS.nonce.test(nonce) &&
    HEADER_PATTERNS.signature.test(signature)
  if (!isValid) return undefined
  return { site_id, timestamp: Number(timestamp), nonce, signature: signature.slice(3) }
}

/** Path and query as they were sent, because the signature covers them. */
export function requestTarget(c: Context): string {
  const { incoming } = (c.env ?? {}) as { incoming?: IncomingMessage }
  // A request line may hold a whole URL, as a proxy sends it.
  if (incoming?.url?.startsWith('/')) return incoming.url
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}
