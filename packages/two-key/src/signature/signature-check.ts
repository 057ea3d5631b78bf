/**
 * Key one: Slack's signature, `v0=` and the HMAC-SHA256 of `v0:{timestamp}:{body}` under the signing
 * secret. It is over bytes: a body that was decoded and encoded again may have other ones.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'
import { type HeaderSource, headerOf } from './headers.ts'

export type SignatureFailure =
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

/** Says what is wrong with a request's signature, or undefined if it is valid at that time. */
export type SignatureCheck = (request: SignedRequest, nowMs: number) => SignatureFailure | undefined

/** How far Slack's clock and ours may be apart, in either direction. */
const TOLERANCE_SECONDS = 300
// The text of the header is what was signed, so it is never taken for a number and written anew.
const TIMESTAMP = /^\d{1,12}$/
const SIGNATURE = /^v0=[0-9a-f]{64}$/
const OTHER_VERSION = /^v\d+=/

// Both are written and compared in one go, so all requests may share them: making two for each
// costs a quarter of the whole check.
const expected = Buffer.alloc(67)
const claimed = Buffer.alloc(67)

/** Several secrets are valid side by side while one takes over from another. */
export function createSignatureCheck(signingSecrets: string | readonly string[]): SignatureCheck {
  const keys = keysOf([signingSecrets].flat())

  return ({ rawBody, headers }, nowMs) => {
    const timestamp = headerOf(headers, 'x-slack-request-timestamp')
    const signature = headerOf(headers, 'x-slack-signature')
    if (!timestamp || !signature) return 'missing_header'
    if (!TIMESTAMP.test(timestamp)) return 'malformed_header'
    if (!SIGNATURE.test(signature)) {
      const isOther = !signature.startsWith('v0=') && OTHER_VERSION.test(signature)
      return isOther ? 'unknown_version' : 'malformed_header'
    }
    const age = Math.floor(nowMs / 1000) - Number(timestamp)
    if (age > TOLERANCE_SECONDS) return 'stale_timestamp'
    if (age < -TOLERANCE_SECONDS) return 'future_timestamp'

    claimed.write(signature, 'latin1')
    const prefix = `v0:${timestamp}:`
    let isValid = false
    for (const key of keys) {
      const hmac = createHmac('sha256', key).update(prefix, 'latin1').update(rawBody)
      expected.write(`v0=${hmac.digest('hex')}`, 'latin1')
      if (timingSafeEqual(expected, claimed)) isValid = true
    }
    return isValid ? undefined : 'wrong_signature'
  }
}

function keysOf(secrets: readonly string[]): readonly KeyObject[] {
  if (secrets.length === 0) throw new TypeError('Give the signing secret of the Slack app')
  return secrets.map((secret) => {
    // An empty secret is one that everybody knows.
    if (typeof secret !== 'string' || secret.trim() === '') {
      throw new TypeError('The signing secret of the Slack app is empty: set it')
    }
    if (/^(?:xox[a-z]-|xapp-)/.test(secret)) {
      throw new TypeError('That is a token: give the signing secret of the Slack app')
    }
    return createSecretKey(Buffer.from(secret))
  })
}
