/**
 * Step one: Slack's signature, `v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}` under the signing
 * secret. It covers the raw bytes: decoding a body and encoding it again may change them.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

export type SignatureErrorCode =
  | 'missing_header'
  | 'malformed_header'
  | 'unknown_version'
  | 'stale_timestamp'
  | 'future_timestamp'
  | 'wrong_signature'

export interface SignedRequest {
  /** The bytes of the body as they were sent. */
  rawBody: Uint8Array
  headers: HeaderSource
}

/** Returns undefined if the signature is valid at that time. */
export type SignatureVerifier = (
  request: SignedRequest,
  nowMs: number,
) => SignatureErrorCode | undefined

/** The allowed difference between Slack's clock and ours, in either direction. */
const TOLERANCE_SECONDS = 300
// The text of the header is part of what was signed, so it is used as it is.
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURE = /^v0=[0-9a-f]{64}$/
const OTHER_VERSION = /^v\d+=/

// Shared by all requests, because nothing runs between writing and comparing them. Allocating two for
// each request would cost a quarter of the whole check.
const expected = Buffer.alloc(67)
const received = Buffer.alloc(67)

/** Several secrets are valid at the same time during a rotation. */
export function createSignatureVerifier(
  signingSecrets: string | readonly string[],
): SignatureVerifier {
  const keys = toKeys([signingSecrets].flat())

  return ({ rawBody, headers }, nowMs) => {
    const timestamp = getHeader(headers, 'x-slack-request-timestamp')
    const signature = getHeader(headers, 'x-slack-signature')
    if (!timestamp || !signature) return 'missing_header'
    if (!TIMESTAMP.test(timestamp)) return 'malformed_header'
    if (!SIGNATURE.test(signature)) {
      const isOther = !signature.startsWith('v0=') && OTHER_VERSION.test(signature)
      return isOther ? 'unknown_version' : 'malformed_header'
    }
    const age = Math.floor(nowMs / 1000) - Number(timestamp)
    if (age > TOLERANCE_SECONDS) return 'stale_timestamp'
    if (age < -TOLERANCE_SECONDS) return 'future_timestamp'

    received.write(signature, 'latin1')
    const prefix = `v0:${timestamp}:`
    let isValid = false
    for (const key of keys) {
      const hmac = createHmac('sha256', key).update(prefix, 'latin1').update(rawBody)
      expected.write(`v0=${hmac.digest('hex')}`, 'latin1')
      if (timingSafeEqual(expected, received)) isValid = true
    }
    return isValid ? undefined : 'wrong_signature'
  }
}

function toKeys(secrets: readonly string[]): readonly KeyObject[] {
  if (secrets.length === 0) throw new TypeError('Set the signing secret of the Slack app.')
  return secrets.map((secret) => {
    // Anyone can sign with an empty secret.
    if (typeof secret !== 'string' || secret.trim() === '') {
      throw new TypeError('The signing secret of the Slack app is empty. Set it.')
    }
    if (/^(?:xox[a-z]-|xapp-)/.test(secret)) {
      throw new TypeError('This is a token. Use the signing secret of the Slack app instead.')
    }
    return createSecretKey(Buffer.from(secret))
  })
}

/** Headers as servers provide them: objects of Node and Lambda, in any case, or those of fetch. */
export type HeaderSource =
  | Headers
  | Readonly<Record<string, string | readonly string[] | undefined>>

/** The name is in lower case. Undefined if the header is missing or sent more than once. */
export function getHeader(headers: HeaderSource, name: string): string | undefined {
  if (isFetchHeaders(headers)) return headers.get(name) ?? undefined
  let found: string | undefined
  for (const key in headers) {
    // Lengths first, because this runs for every header of every request.
    if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
    const value = headers[key]
    if (value === undefined) continue
    const single = typeof value === 'string' ? value : value.length === 1 ? value[0] : undefined
    // Some readers of a duplicate header take the first value, others the last.
    if (single === undefined || found !== undefined) return undefined
    found = single
  }
  return found
}

/** By its shape, because frameworks have Headers classes of their own. */
function isFetchHeaders(headers: HeaderSource): headers is Headers {
  return typeof headers.get === 'function'
}
