/** Signatures of requests, byte for byte as docs/form-bridge-protocol.md has them. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

/** By how many seconds the clock of a site may be off. */
export const WINDOW_SECONDS = 300

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
  /** The hex digits behind `v1=`. */
  signature: string
}

export function canonical(
  { method, target, body }: RequestBytes,
  { timestamp, nonce }: Pick<SignatureHeaders, 'timestamp' | 'nonce'>,
): string {
  const digest = createHash('sha256').update(body).digest('hex')
  return `FB1\n${timestamp}\n${nonce}\n${method}\n${target}\n${digest}`
}

export function signatureOf(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex')
}

export function isSignatureOf(secret: string, text: string, signature: string): boolean {
  const expected = createHmac('sha256', secret).update(text).digest()
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'))
}

/** The form of each header that a signature needs. */
export const headerForms = {
  site: /^site_[A-Za-z0-9_-]{16}$/,
  timestamp: /^[1-9][0-9]{9}$/,
  nonce: /^[0-9a-f]{32}$/,
  signature: /^v1=[0-9a-f]{64}$/,
}

/** What a request says of its signature; undefined if any of it has not the form. */
export function signatureIn(
  header: (name: string) => string | undefined,
): SignatureHeaders | undefined {
  const [site_id = '', timestamp = '', nonce = '', signature = ''] = [
    header('x-fb-site'),
    header('x-fb-timestamp'),
    header('x-fb-nonce'),
    header('x-fb-signature'),
  ]
  const isFormed =
    headerForms.site.test(site_id) &&
    headerForms.timestamp.test(timestamp) &&
    headerForms.nonce.test(nonce) &&
    headerForms.signature.test(signature)
  if (!isFormed) return undefined
  return { site_id, timestamp: Number(timestamp), nonce, signature: signature.slice(3) }
}
