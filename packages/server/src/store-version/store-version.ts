/** Keeps an older version of Strongroom from starting on a store that a newer one has used. */
import type { Db } from '@strongroom/kit/db'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { Failure } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import { version as ownVersion } from '../version.ts'
import { STORE_ITEM, StoreVersionItem } from './item.ts'

/** Raised by a change after which an older server would misread or damage what a newer one stores. */
export const STORE_VERSION = 2

/** Returns whether the store has this version already; stores of the first servers have none. */
export async function requireKnownVersion(db: Db): Promise<boolean> {
  const found = await entity(db, serverTable, StoreVersionItem).get(STORE_ITEM)
  if (found === undefined || found.version <= STORE_VERSION) return found?.version === STORE_VERSION
  throw new Failure(
    'failed',
    `Strongroom ${found.writtenBy} uses this store with store version ${found.version}, and this version (${ownVersion}) knows store versions up to ${STORE_VERSION}: start that version or a newer one, or restore the tables to a time before it was started`,
  )
}

/** For servers and workers, which then use the store until they stop. */
export async function recordVersion(db: Db): Promise<void> {
  if (await requireKnownVersion(db)) return
  const items = entity(db, serverTable, StoreVersionItem)
  const isOlder = expr`attribute_not_exists(${items.attr('PK')}) OR ${items.attr('version')} < ${STORE_VERSION}`
  const item = { ...STORE_ITEM, version: STORE_VERSION, writtenBy: ownVersion }
  // Another process was faster, and may be a newer version.
  if (!(await conditionHeld(items.put(item, isOlder)))) await requireKnownVersion(db)
}
