/** Which key of the embedded KMS the server itself encrypts with: `KMSKEY`/`OWN`. */
import * as z from 'zod'
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { serverTable } from '@strongroom/kit/server-table'

/**
 * Records which key of the embedded KMS the server itself encrypts with, so that servers that start at
 * the same time agree and do not use keys of other programs.
 */
export const OwnKeyItem = z.object({
  PK: z.literal('KMSKEY'),
  SK: z.literal('OWN'),
  id: z.string(),
})
export const OWN_KEY = { PK: 'KMSKEY', SK: 'OWN' } as const

/** The id of the server's own key, even if it was deleted; undefined before the first start. */
export async function findOwnKeyId(db: Db): Promise<string | undefined> {
  return (await entity(db, serverTable, OwnKeyItem).get(OWN_KEY))?.id
}
