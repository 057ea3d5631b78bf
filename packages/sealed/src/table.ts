/** What is stored of a secret. Everything here may leak without harm: no key, no token, no address. */
import { defineTable } from '@strongroom/kit/table'
import * as z from 'zod'

export const secretsTable = defineTable({
  name: 'sealed-secrets',
  description: 'Secrets that the server cannot read, each until it is viewed, burned or expired',
  partitionKey: { name: 'id', type: 'S' },
  ttl: 'expiresAt',
  // What is destroyed must not live on in a backup.
  pointInTimeRecovery: false,
  tags: { Project: 'sealed-fyi', Environment: 'production' },
})

export const SHORTEST_TTL_SECONDS = 15 * 60
export const LONGEST_TTL_SECONDS = 90 * 24 * 60 * 60

export const MOST_VIEWS = 5
export const PROOF_TRIES = 10

/** How long the same claim reads again without another view. */
export const GRACE_SECONDS = 30

/** How long the token that made a secret is valid, and so how long its id must stay taken. */
export const TOKEN_SECONDS = 300

/** 50 KB of plaintext, 4 bytes of length and 16 of tag, in base64: the specification's "~68 KB". */
export const LONGEST_CIPHERTEXT = Math.ceil((50 * 1024 + 4 + 16) / 3) * 4

const EpochSecond = z.number().int().positive()
const Sha256 = z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32)

/** The first 128 bits of SHA-256 of a token, in the format of the token itself. */
const TokenHash = z.string().regex(/^[0-9a-f]{32}$/)

/** Whether a text is base64, written in the one right way. A pattern takes four times as long. */
export function isBase64(text: string): boolean {
  return Buffer.from(text, 'base64').toString('base64') === text
}

const SECRET_ID = /^[A-Za-z0-9_-]{22}$/

/** A malformed id asks the store like any other, for an id that no secret has. */
export function secretKey(id: string): { id: string } {
  return { id: SECRET_ID.test(id) ? id : 'malformed' }
}

const attributes = {
  id: z.string().regex(SECRET_ID),
  ciphertext: z
    .string()
    .min(4)
    .max(LONGEST_CIPHERTEXT)
    .refine((text) => text.length % 4 === 0),
  iv: z.string().regex(/^[A-Za-z0-9+/]{16}$/),
  salt: z
    .string()
    .regex(/^[A-Za-z0-9+/]{22}==$/)
    .optional(),
  passphraseProtected: z.boolean(),
  remainingViews: z.number().int().min(0).max(MOST_VIEWS),
  burnToken: TokenHash,
  createdAt: EpochSecond,
  expiresAt: EpochSecond,
  lastAccessAt: EpochSecond.optional(),
  lastAccessToken: TokenHash.optional(),
  linkHash: Sha256,
  proofHash: Sha256,
  triesLeft: z.number().int().min(0).max(PROOF_TRIES),
  /** Hash of each claim → the second until which it may read again. */
  claims: z.record(TokenHash, EpochSecond),
  receiptUntil: EpochSecond.optional(),
}

export const SecretItem = z.object(attributes).refine(saltIsForPassphrase, { path: ['salt'] })
export type SecretItem = z.infer<typeof SecretItem>

/** What a claim writes; an update is not checked as a whole item, so this much of it is. */
export const ClaimAttributes = z.object({ lastAccessToken: TokenHash })

/** A secret as it begins. */
export const NewSecretItem = z
  .object({
    ...attributes,
    // Every character is looked at once, when it is stored: a reader finds out about the rest.
    ciphertext: attributes.ciphertext.refine(isBase64),
    remainingViews: z.number().int().min(1).max(MOST_VIEWS),
    triesLeft: z.literal(PROOF_TRIES),
    claims: attributes.claims.refine((claims) => Object.keys(claims).length === 0),
  })
  .omit({ lastAccessAt: true, lastAccessToken: true })
  .refine(saltIsForPassphrase, { path: ['salt'] })
  // If TTL deleted it earlier, the token that made it could make another.
  .refine(({ createdAt, expiresAt }) => expiresAt >= createdAt + TOKEN_SECONDS, {
    path: ['expiresAt'],
  })
  .refine(({ expiresAt, receiptUntil = expiresAt }) => receiptUntil >= expiresAt, {
    path: ['receiptUntil'],
  })

export type NewSecretItem = z.infer<typeof NewSecretItem>

/**
 * What an ended secret leaves: its id, so that the token that made it works once only, and for a
 * secret with a receipt what the creator may still ask.
 */
export const TombstoneItem = z.object({
  id: attributes.id,
  expiresAt: attributes.expiresAt,
  burnToken: attributes.burnToken.optional(),
  lastAccessAt: attributes.lastAccessAt,
})
export type TombstoneItem = z.infer<typeof TombstoneItem>

function saltIsForPassphrase(item: { salt?: unknown; passphraseProtected: boolean }): boolean {
  return (item.salt !== undefined) === item.passphraseProtected
}
