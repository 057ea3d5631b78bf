/** Join tokens, with which an agency lets sites in. */
import * as z from 'zod'
import { AgencyRole } from './agency-site.ts'
import { AgencyId, Count, EpochSecond, IsoTime, key, Sha256 } from './formats.ts'

/** Lets sites name the agency when they register. The token itself names its agency too. */
export const JoinTokenItem = z.object({
  PK: key('AGENCY#'),
  SK: key('JOIN#'),
  agency_id: AgencyId,
  token_hash: Sha256,
  role: AgencyRole,
  max_uses: z.int().min(1),
  uses: Count,
  created_at: IsoTime,
  expires_at: IsoTime,
  ttl: EpochSecond,
})
export type JoinToken = z.infer<typeof JoinTokenItem>

export function joinTokenKey({
  agency_id,
  token_hash,
}: Pick<JoinToken, 'agency_id' | 'token_hash'>) {
  return { PK: `AGENCY#${agency_id}`, SK: `JOIN#${token_hash}` }
}
