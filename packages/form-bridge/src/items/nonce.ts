/** A nonce that a site has used; the key is all of it. */
import * as z from 'zod'
import { EpochSecond } from './formats.ts'

export const NonceItem = z.object({
  PK: z.string().regex(/^NONCE#site_[A-Za-z0-9_-]{16}$/),
  SK: z.string().regex(/^[0-9]{10}#[0-9a-f]{32}$/),
  ttl: EpochSecond,
})

export interface SignedMoment {
  site_id: string
  /** The epoch second in the signed request. */
  timestamp: number
  nonce: string
}

export function nonceKey({ site_id, timestamp, nonce }: SignedMoment) {
  return { PK: `NONCE#${site_id}`, SK: `${timestamp}#${nonce}` }
}
