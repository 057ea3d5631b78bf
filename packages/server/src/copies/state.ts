/** Whether a store is the target of `strongroom copy`, and what a server does about it. */
import type { Db } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { Failure } from '@strongroom/kit/errors'
import { expr } from '@strongroom/kit/expression'
import { serverTable } from '@strongroom/kit/server-table'
import { conditionHeld } from '@strongroom/kit/db-errors'
import { STORE_COPY, StoreCopyItem } from './item.ts'

export function createCopyState(db: Db) {
  const items = entity(db, serverTable, StoreCopyItem)
  const run = items.attr('run')
  return {
    load: () => items.get(STORE_COPY),

    /** Takes the copy over from the process that has it, unless another one was faster. */
    begin(item: StoreCopyItem, before: StoreCopyItem | undefined): Promise<boolean> {
      const isUnchanged = before
        ? expr`${run} = ${before.run}`
        : expr`attribute_not_exists(${items.attr('PK')})`
      return conditionHeld(items.put(item, isUnchanged))
    },

    /** False if another process has taken the copy over. */
    save: (item: StoreCopyItem) => conditionHeld(items.put(item, expr`${run} = ${item.run}`)),
  }
}

/** A store that is copied in part must not be used: what is missing would look deleted. */
export async function requireNoUnfinishedCopy(db: Db): Promise<void> {
  const copy = await createCopyState(db).load()
  if (copy?.state !== 'copying') return
  throw new Failure(
    'failed',
    `This store is an unfinished copy of ${copy.source}: run "strongroom copy" again to finish it`,
  )
}

/** From now on the store has changes of its own, which a repeated copy would undo. */
export async function acceptCopy(db: Db): Promise<void> {
  const items = entity(db, serverTable, StoreCopyItem)
  const isComplete = expr`${items.attr('state')} = ${'complete'}`
  await conditionHeld(items.delete(STORE_COPY, isComplete))
}
