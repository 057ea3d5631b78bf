/**
 * Standard Webhooks 1.0.0, and its predecessor Svix, whose headers are called `svix-*`. A shared
 * secret is `whsec_…`; the public key of an asymmetric pair is `whpk_…`.
 */
import { type KeyObject, verify as verifySigned } from 'node:crypto'
import * as z from 'zod'
import { decodeSigningSecret } from '../../signing/secret-list.ts'
import { hasMatch, decode, ed25519Key, hmac } from '../crypto.ts'
import {
  type VerificationInput,
  defineScheme,
  checkAge,
  invalid,
  parseTimestamp,
  tolerance,
  DEFAULT_TOLERANCE_SECONDS,
  type VerificationResult,
} from '../scheme.ts'
import { headerOf, isPrintable } from '../signed-request.ts'

export const standardWebhooks = defineScheme({
  schema: z.strictObject({
    algorithm: z.literal('standard-webhooks'),
    toleranceSeconds: tolerance.default(DEFAULT_TOLERANCE_SECONDS),
  }),

  secretProblem(secret) {
    const key = publicKey(secret) ?? sharedKey(secret)
    if (key !== undefined && (!Buffer.isBuffer(key) || key.byteLength >= 16)) return undefined
    return 'Enter the secret as the sender shows it: whsec_ (or whpk_ for a public key) and base64'
  },

  verify(check, { toleranceSeconds }) {
    const family = headerOf(check.request, 'svix-signature') === undefined ? 'webhook' : 'svix'
    return verifyWebhookHeaders(check, { family, toleranceSeconds })
  },
})

export function verifyWebhookHeaders(
  { request, secrets, now }: VerificationInput,
  { family, toleranceSeconds }: { family: 'webhook' | 'svix'; toleranceSeconds: number },
): VerificationResult {
  const id = headerOf(request, `${family}-id`)
  const time = headerOf(request, `${family}-timestamp`)
  const header = headerOf(request, `${family}-signature`)
  if (id === undefined || time === undefined || header === undefined) {
    return invalid('missing_header')
  }
  const signedAt = parseTimestamp(time)
  const shared = signaturesOf(header, 'v1')
  // A sender has few keys, and these are much more expensive to check than a digest.
  const asymmetric = signaturesOf(header, 'v1a').slice(0, 10)
  if (!isPrintable(id) || signedAt === undefined || shared.length + asymmetric.length === 0) {
    return invalid('malformed_header')
  }
  const sharedKeys = keysOf(secrets, sharedKey)
  const publicKeys = keysOf(secrets, publicKey)
  if (sharedKeys.length + publicKeys.length === 0) return invalid('no_secret')

  const signed = Buffer.concat([Buffer.from(`${id}.${time}.`), request.body])
  const expected = sharedKeys.map((key) => hmac('sha256', key, signed))
  const matches =
    hasMatch(shared, expected) ||
    publicKeys.some((key) =>
      asymmetric.some((signature) => verifySigned(null, signed, key, signature)),
    )
  return matches ? checkAge(signedAt, now, toleranceSeconds) : invalid('no_match')
}

/** The signatures of one version in a list like `v1,… v1,… v1a,…`. */
function signaturesOf(header: string, version: 'v1' | 'v1a'): Buffer[] {
  const prefix = `${version},`
  return header
    .split(' ')
    .filter((entry) => entry.startsWith(prefix))
    .map((entry) => decode('base64', entry.slice(prefix.length)))
    .filter((signature) => signature !== undefined)
}

function keysOf<Key>(
  secrets: readonly string[],
  keyOf: (secret: string) => Key | undefined,
): Key[] {
  return secrets.map(keyOf).filter((key) => key !== undefined)
}

function sharedKey(secret: string): Buffer | undefined {
  return secret.startsWith('whpk_') ? undefined : decodeSigningSecret(secret)
}

function publicKey(secret: string): KeyObject | undefined {
  if (!secret.startsWith('whpk_')) return undefined
  const bytes = decode('base64', secret.slice('whpk_'.length))
  return bytes && ed25519Key(bytes)
}
