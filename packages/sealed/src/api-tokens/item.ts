/** API tokens in `strongroom-server`: the token, and the counter of its limit. */
import * as z from 'zod'

const PartitionKey = z.string().startsWith('SEALEDTOKEN#')

export const ApiTokenItem = z.object({
  PK: PartitionKey,
  SK: z.literal('TOKEN'),
  name: z.string(),
  tokenHash: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32),
  /** Secrets per hour. */
  perHour: z.number().int().positive(),
  createdAt: z.number().int(),
  expiresAt: z.number().int().optional(),
  /** The start of the minute of the last use. */
  lastUsedAt: z.number().int().optional(),
})
export type ApiTokenItem = z.infer<typeof ApiTokenItem>

/** A separate item, so that counting cannot restore a token that was revoked. */
export const ApiTokenRateItem = z.object({
  PK: PartitionKey,
  SK: z.literal('RATE'),
  hour_win: z.number().int(),
  hour_cur: z.number().int(),
  hour_prev: z.number().int(),
})

export function tokenKey(name: string) {
  return { PK: `SEALEDTOKEN#${name}`, SK: 'TOKEN' } as const
}

export function rateKey(name: string) {
  return { PK: `SEALEDTOKEN#${name}`, SK: 'RATE' } as const
}
