/**
 * The one key of the embedded KMS that the server itself encrypts with: `KMSKEY`/`OWN` names it, so
 * that servers that start at once agree, and keys that other programs make later are not taken for it.
 */
import type { Db } from '@strongroom/kit/db'
import { ConditionFailed } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import type { KeyStorage } from '@strongroom/kms/key-storage'
import type { EmbeddedKms } from '@strongroom/kms/kms'
import * as z from 'zod'

export const OwnKeyItem = z.object({
  PK: z.literal('KMSKEY'),
  SK: z.literal('OWN'),
  id: z.string(),
})
const KEY = { PK: 'KMSKEY', SK: 'OWN' } as const

/** The id of the key, also if it was deleted; undefined before the first start. */
export async function findOwnKeyId(db: Db): Promise<string | undefined> {
  return (await entity(db, serverTable, OwnKeyItem).get(KEY))?.id
}

/** Returns the id of the key, which is made if there is none. */
export async function ensureOwnKey(db: Db, storage: KeyStorage, kms: EmbeddedKms): Promise<string> {
  const items = entity(db, serverTable, OwnKeyItem)
  const own = await items.get(KEY)
  if (own) return own.id
  // A start that was cut short may have made the key and not yet named it.
  const [oldest] = (await storage.list()).toSorted((a, b) => a.createdAt - b.createdAt)
  const id = oldest?.id ?? (await kms.createKey({ Description: 'Strongroom' })).KeyMetadata.KeyId
  try {
    await items.put({ ...KEY, id }, expr`attribute_not_exists(${items.attr('PK')})`)
    return id
  } catch (error) {
    if (!(error instanceof ConditionFailed && error.item)) throw error
    const named = items.parse(error.item).id
    // Two made one. Nobody will name the other, so nothing was encrypted with it.
    if (!oldest && named !== id) await storage.remove(id, 1)
    return named
  }
}
