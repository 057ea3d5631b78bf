/** What the API takes and gives, to the character. Times are seconds since the epoch. */
import { z } from '@hono/zod-openapi'
import { PADDED_SIZES } from './crypto/padding.ts'
import { isBase64, LONGEST_TTL_SECONDS, MOST_VIEWS, SHORTEST_TTL_SECONDS } from './table.ts'

const TAG_BYTES = 16

/** The length in base64 → the number of bytes, for every size that a padded secret has. */
const ciphertextSizes = new Map(
  PADDED_SIZES.map((size) => size + TAG_BYTES).map((bytes) => [Math.ceil(bytes / 3) * 4, bytes]),
)

/** Whether a ciphertext has one of the sizes and is written in the one right way. */
function isCiphertext(text: string): boolean {
  const size = ciphertextSizes.get(text.length)
  return Buffer.byteLength(text, 'base64') === size && isBase64(text)
}

// The last character of each has bits that belong to no byte: they must be zero.
const BYTES_32 = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/
const SALT = /^[A-Za-z0-9+/]{21}[AQgw]==$/
const IV = /^[A-Za-z0-9+/]{16}$/
const TOKEN = /^[0-9a-f]{32}$/

const EpochSecond = z.number().int()
const Token = z.string().regex(TOKEN, 'Must be 32 hexadecimal digits in lower case')
const Bytes32 = (of: string) =>
  z.string().regex(BYTES_32, `Must be base64url of the 32 bytes of ${of}, without padding`)

export const SecretId = z.string().openapi({
  description: 'The id of the secret: 16 bytes as base64url',
  example: 'Ab3dEf6hIj9kLmNoPqRsTw',
})

export const Issued = z.object({
  token: z.string().openapi({ description: 'Makes one secret within five minutes' }),
  id: SecretId,
  challenge: z.object({
    prefix: z.string(),
    difficulty: z.number().int(),
    perDoubling: z.number().int(),
  }),
  expiresAt: EpochSecond,
})
export type Issued = z.infer<typeof Issued>

export const NewSecretRequest = z
  .strictObject({
    ciphertext: z
      .string()
      .refine(
        isCiphertext,
        `Must be base64 of ${[...ciphertextSizes.values()].join(', ')} bytes: a padded text and its tag`,
      ),
    iv: z.string().regex(IV, 'Must be base64 of 12 bytes'),
    salt: z.string().regex(SALT, 'Must be base64 of 16 bytes').nullable(),
    passphraseProtected: z.boolean(),
    linkHash: Bytes32('SHA-256'),
    proofHash: Bytes32('SHA-256'),
    ttlSeconds: z.number().int().min(SHORTEST_TTL_SECONDS).max(LONGEST_TTL_SECONDS),
    maxViews: z.number().int().min(1).max(MOST_VIEWS),
    receipt: z.boolean().optional(),
    pow: z.number().int().min(0).openapi({ description: 'The counter that the work has found' }),
  })
  .refine(({ salt, passphraseProtected }) => (salt !== null) === passphraseProtected, {
    path: ['salt'],
    message: 'Must be there with a passphrase, and null without one',
  })
export type NewSecretRequest = z.infer<typeof NewSecretRequest>

export const Created = z.object({ id: SecretId, burnToken: Token, expiresAt: EpochSecond })
export type Created = z.infer<typeof Created>

export const RevealRequest = z.strictObject({
  link: Bytes32('what proves possession of the link'),
  proof: Bytes32('what proves possession of link and passphrase'),
  claim: Token.openapi({
    description:
      'Made by the reader before the first request: the same claim reads again for 30 seconds',
  }),
})
export type RevealRequest = z.infer<typeof RevealRequest>

export const Revealed = z.object({
  ciphertext: z.string(),
  iv: z.string(),
  salt: z.string().nullable(),
  passphraseProtected: z.boolean(),
  remainingViews: z.number().int(),
  graceSeconds: z.number().int().openapi({
    description: 'How long the same claim reads again without another view, if not acknowledged',
  }),
})
export type Revealed = z.infer<typeof Revealed>

export const AckRequest = z.strictObject({ claim: Token })

export const BurnTokenHeader = Token.openapi({
  param: { name: 'X-Burn-Token', in: 'header' },
  description: 'The burn token that the creation answered with',
})

export const ReceiptAnswer = z.object({
  state: z.enum(['pending', 'viewed', 'gone']).openapi({
    description: 'Not viewed yet; viewed, if several times then last at `viewedAt`; ended unread',
  }),
  viewedAt: EpochSecond.optional(),
})
export type ReceiptAnswer = z.infer<typeof ReceiptAnswer>
