/** Stored attributes of a secret. They are safe to disclose: no keys, tokens or addresses. */
import * as z from 'zod'
import { PADDED_SIZES } from '../crypto/padding.ts'
import { MAX_PROOF_ATTEMPTS, MAX_VIEWS, TOKEN_SECONDS } from '../limits.ts'

const TAG_BYTES = 16
const POINT_BYTES = 65

/** Characters of base64 → bytes, for every size of a padded content and its tag. */
export const CIPHERTEXT_SIZES: ReadonlyMap<number, number> = sizesWith(TAG_BYTES)

/** The same for a secret in a request, which begins with a point of the curve. */
export const REQUESTED_CIPHERTEXT_SIZES: ReadonlyMap<number, number> = sizesWith(
  POINT_BYTES + TAG_BYTES,
)

/** The specification's "~68 KB", and a point of the curve. */
export const MAX_CIPHERTEXT_CHARS = Math.max(...REQUESTED_CIPHERTEXT_SIZES.keys())

function sizesWith(extraBytes: number): Map<number, number> {
  return new Map(
    PADDED_SIZES.map((size) => size + extraBytes).map((bytes) => [Math.ceil(bytes / 3) * 4, bytes]),
  )
}

const EpochSecond = z.number().int().positive()
const Sha256 = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32)

/** The first 128 bits of SHA-256 of a token, in the format of the token itself. */
const TokenHash = z.string().regex(/^[0-9a-f]{32}$/)

/** Accepts only canonical base64. A regular expression takes four times as long. */
export function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text
}

const SECRET_ID = /^[A-Za-z0-9_-]{22}$/

/** A malformed id reads the store like any other, with a key that no secret has. */
export function secretKey(id: string): { id: string } {
  return { id: SECRET_ID.test(id) ? id : 'malformed' }
}

const attributes = {
  id: z.string().regex(SECRET_ID),
  ciphertext: z
    .string()
    .min(4)
    .max(MAX_CIPHERTEXT_CHARS)
    .refine((text) => text.length % 4 === 0),
  iv: z.string().regex(/^[A-Za-z0-9+/]{16}$/),
  salt: z
    .string()
    .regex(/^[A-Za-z0-9+/]{22}==$/)
    .optional(),
  passphraseProtected: z.boolean(),
  remainingViews: z.number().int().min(0).max(MAX_VIEWS),
  burnToken: TokenHash,
  createdAt: EpochSecond,
  expiresAt: EpochSecond,
  lastAccessAt: EpochSecond.optional(),
  lastAccessToken: TokenHash.optional(),
  linkHash: Sha256,
  proofHash: Sha256,
  triesLeft: z.number().int().min(0).max(MAX_PROOF_ATTEMPTS),
  /** Hash of each claim → the second until which it can read again. */
  claims: z.record(TokenHash, EpochSecond),
  receiptUntil: EpochSecond.optional(),
  /** With a receipt: the views at its creation. */
  maxViews: z.number().int().min(1).max(MAX_VIEWS).optional(),
  /** Of a secret in a request: until then its id must not become free. */
  requestUntil: EpochSecond.optional(),
}

export const SecretItem = z.object(attributes).refine(hasSaltIfProtected, { path: ['salt'] })
export type SecretItem = z.infer<typeof SecretItem>

/** Validated by itself because updates are not validated as whole items. */
export const ClaimAttributes = z.object({ lastAccessToken: TokenHash })

export const NewSecretItem = z
  .object({
    ...attributes,
    // Checked in full only here; a reader's decryption detects later damage.
    ciphertext: attributes.ciphertext.refine(isBase64),
    remainingViews: z.number().int().min(1).max(MAX_VIEWS),
    triesLeft: z.literal(MAX_PROOF_ATTEMPTS),
    claims: attributes.claims.refine((claims) => Object.keys(claims).length === 0),
  })
  .omit({ lastAccessAt: true, lastAccessToken: true })
  .refine(hasSaltIfProtected, { path: ['salt'] })
  // If TTL deleted it earlier, its creation token could be used again.
  .refine(({ createdAt, expiresAt }) => expiresAt >= createdAt + TOKEN_SECONDS, {
    path: ['expiresAt'],
  })
  // If it ended earlier, its request could be filled again.
  .refine(({ expiresAt, requestUntil = 0 }) => expiresAt >= requestUntil, {
    path: ['requestUntil'],
  })
  .refine(({ expiresAt, receiptUntil = expiresAt }) => receiptUntil >= expiresAt, {
    path: ['receiptUntil'],
  })

export type NewSecretItem = z.infer<typeof NewSecretItem>

/** What an ended secret leaves: its id, so that its creation token works only once, and its receipt. */
export const TombstoneItem = z.object({
  id: attributes.id,
  expiresAt: attributes.expiresAt,
  burnToken: attributes.burnToken.optional(),
  lastAccessAt: attributes.lastAccessAt,
  remainingViews: attributes.remainingViews.optional(),
  maxViews: attributes.maxViews,
})
export type TombstoneItem = z.infer<typeof TombstoneItem>

function hasSaltIfProtected(item: { salt?: unknown; passphraseProtected: boolean }): boolean {
  return (item.salt !== undefined) === item.passphraseProtected
}
