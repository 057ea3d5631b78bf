/** Requests and responses of the API. Times are seconds since the epoch. */
import { z } from '@hono/zod-openapi'
import {
  MAX_REQUEST_SECONDS,
  MAX_TTL_SECONDS,
  MAX_VIEWS,
  MIN_REQUEST_SECONDS,
  MIN_TTL_SECONDS,
} from './limits.ts'
import { CIPHERTEXT_SIZES, isBase64, REQUESTED_CIPHERTEXT_SIZES } from './secrets/item.ts'

/** Base64 of one of these sizes, given by the number of their characters. */
function Ciphertext(sizes: ReadonlyMap<number, number>, what: string) {
  return z
    .string()
    .refine(
      (text) => Buffer.byteLength(text, 'base64') === sizes.get(text.length) && isBase64(text),
      `Must be base64 of ${[...sizes.values()].join(', ')} bytes: ${what}`,
    )
}

// The unused bits of the last character must be zero.
const BYTES_32 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const SALT = /^[A-Za-z0-9+/]{21}[AQgw]==$/
const IV = /^[A-Za-z0-9+/]{16}$/
const TOKEN = /^[0-9a-f]{32}$/

const EpochSecond = z.number().int()
const Token = z.string().regex(TOKEN, 'Must be 32 hexadecimal digits in lower case')
const Bytes32 = (name: string) =>
  z.string().regex(BYTES_32, `Must be base64url of the 32 bytes of ${name}, without padding`)

export const SecretId = z.string().openapi({
  description: 'Id of the secret: 16 bytes as base64url',
  example: 'Ab3dEf6hIj9kLmNoPqRsTw',
})

export const SecretOptions = z
  .object({
    defaultTtlSeconds: z.number().int(),
    maxTtlSeconds: z.number().int(),
    defaultViews: z.number().int(),
    maxViews: z.number().int(),
  })
  .openapi({ description: "The operator's defaults and maxima for a new secret" })
export type SecretOptions = z.infer<typeof SecretOptions>

export const TokenResponse = z.object({
  token: z.string().openapi({ description: 'Valid for one secret and five minutes' }),
  id: SecretId,
  challenge: z.object({
    prefix: z.string(),
    difficulty: z.number().int(),
    perDoubling: z.number().int(),
  }),
  expiresAt: EpochSecond,
  options: SecretOptions,
})
export type TokenResponse = z.infer<typeof TokenResponse>

const Iv = z.string().regex(IV, 'Must be base64 of 12 bytes')
const TtlSeconds = z.number().int().min(MIN_TTL_SECONDS).max(MAX_TTL_SECONDS)
const Counter = z
  .number()
  .int()
  .min(0)
  .openapi({ description: 'The counter that solves the proof of work' })

export const NewSecretRequest = z
  .strictObject({
    ciphertext: Ciphertext(CIPHERTEXT_SIZES, 'a padded content and its tag'),
    iv: Iv,
    salt: z.string().regex(SALT, 'Must be base64 of 16 bytes').nullable(),
    passphraseProtected: z.boolean(),
    linkHash: Bytes32('SHA-256'),
    proofHash: Bytes32('SHA-256'),
    ttlSeconds: TtlSeconds,
    maxViews: z.number().int().min(1).max(MAX_VIEWS),
    receipt: z.boolean().optional(),
    pow: Counter,
  })
  .refine(({ salt, passphraseProtected }) => (salt !== null) === passphraseProtected, {
    path: ['salt'],
    message: 'Must be set with a passphrase, and null without one',
  })
export type NewSecretRequest = z.infer<typeof NewSecretRequest>

export const CreateResponse = z.object({ id: SecretId, burnToken: Token, expiresAt: EpochSecond })
export type CreateResponse = z.infer<typeof CreateResponse>

export const NewRequestRequest = z.strictObject({
  seconds: z
    .number()
    .int()
    .min(MIN_REQUEST_SECONDS)
    .max(MAX_REQUEST_SECONDS)
    .default(MAX_REQUEST_SECONDS)
    .openapi({
      description:
        'How long it can be filled, at most five minutes less than the maximum expiry of this server, rounded down to the hour at its end, or to the minute below two hours',
    }),
  linkHash: Bytes32('SHA-256'),
  proofHash: Bytes32('SHA-256'),
})
export type NewRequestRequest = z.input<typeof NewRequestRequest>

export const RequestTokenResponse = z.object({
  token: z.string().openapi({ description: 'For one secret, until `expiresAt`' }),
  id: SecretId,
  expiresAt: EpochSecond,
})
export type RequestTokenResponse = z.infer<typeof RequestTokenResponse>

export const FillRequest = z.strictObject({
  ciphertext: Ciphertext(
    REQUESTED_CIPHERTEXT_SIZES,
    'a point of the curve, a padded content and its tag',
  ),
  iv: Iv,
  ttlSeconds: TtlSeconds.optional().openapi({
    description:
      'At least the rest of the request and 300 seconds. Unless set, seven days, or the maximum expiry of this server if that is less, and never less than that minimum.',
  }),
  receipt: z.boolean().optional(),
  workToken: z.string().optional().openapi({
    description: 'A token from `POST /v1/token`; not needed if an API token made the request',
  }),
  pow: Counter,
  burnToken: Token.openapi({
    description:
      'Created by the sender. A repeated request with the same one and the same ciphertext gets the same response.',
  }),
})
export type FillRequest = z.infer<typeof FillRequest>

export const RevealRequest = z.strictObject({
  link: Bytes32('the proof of the link'),
  proof: Bytes32('the proof of link and passphrase'),
  claim: Token.openapi({
    description:
      'Created by the reader before the first request. The same claim can read again for 30 seconds.',
  }),
})
export type RevealRequest = z.infer<typeof RevealRequest>

export const RevealResponse = z.object({
  ciphertext: z.string(),
  iv: z.string(),
  salt: z.string().nullable(),
  passphraseProtected: z.boolean(),
  remainingViews: z.number().int(),
  graceSeconds: z.number().int().openapi({
    description:
      'How long the same claim can read again without using another view, unless it is acknowledged',
  }),
})
export type RevealResponse = z.infer<typeof RevealResponse>

export const AckRequest = z.strictObject({ claim: Token })

export const BurnTokenHeader = Token.openapi({
  param: { name: 'X-Burn-Token', in: 'header' },
  description: 'The burn token from the response to the creation',
})

export const ReceiptResponse = z.object({
  state: z.enum(['pending', 'viewed', 'gone']).openapi({
    description:
      '`pending` (not viewed yet), `viewed` (last viewed at `viewedAt`) or `gone` (ended without a view).',
  }),
  viewedAt: EpochSecond.optional(),
  views: z.number().int().optional().openapi({
    description:
      'How many views were used. Reading again under the same claim is no view. Like `maxViews`, missing for a secret that a version without these counts stored.',
  }),
  maxViews: z.number().int().optional().openapi({ description: 'How many views were permitted' }),
})
export type ReceiptResponse = z.infer<typeof ReceiptResponse>
