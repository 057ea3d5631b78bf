/** An API key, found by its hash; the key itself is stored nowhere. */
import * as z from 'zod'
import { Domain, EpochSecond, IsoTime, key, SiteId } from './formats.ts'

export const ApiKeyItem = z.object({
  PK: z.string().regex(/^API#[0-9a-f]{64}$/),
  SK: z.literal('LOOKUP'),
  GSI1PK: key('SITE#'),
  GSI1SK: z.literal('API_KEY'),
  site_id: SiteId,
  domain: Domain,
  created_at: IsoTime,
  last_used: IsoTime,
  key_version: z.int().min(1),
  /** Only of a key that was rotated away: the end of its grace period. */
  expires_at: IsoTime.optional(),
  ttl: EpochSecond.optional(),
})
export type ApiKey = z.infer<typeof ApiKeyItem>

export function apiKeyKey(api_key_hash: string) {
  return { PK: `API#${api_key_hash}`, SK: 'LOOKUP' } as const
}
