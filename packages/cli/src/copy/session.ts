/** What the passes of a copy share. */
import type { Db, Item } from '@strongroom/kit/db'
import type { Table } from '@strongroom/kit/table'
import type { Clock } from '@strongroom/platform/clock'
import { classifyItem } from './scope.ts'
import type { Rewrapper } from './rewrap.ts'
import { forEachLimited, writeItems } from './write-items.ts'

/** KMS calls at the same time. */
export const MAX_KMS_CALLS = 8

export interface CopySession {
  source: Db
  target: Db
  rewrapper: Rewrapper
  clock: Clock
  /** Ends the copy after the current page. */
  stop: AbortSignal
  progress(line: string): void
}

/** The user stopped the copy. Everything up to the last page is stored. */
export class Stopped extends Error {
  override readonly name = 'Stopped'
}

/** Pages of a table, read consistently. Fails with `Stopped` between two of them. */
export async function* scanPages(
  { stop }: Pick<CopySession, 'stop'>,
  db: Db,
  table: Table,
  start?: Item,
): AsyncGenerator<{ items: Item[]; next: Item | undefined }> {
  let after = start
  do {
    if (stop.aborted) throw new Stopped()
    const { Items = [], LastEvaluatedKey } = await db.scan({
      TableName: table.name,
      ConsistentRead: true,
      ...(after && { ExclusiveStartKey: after }),
    })
    after = LastEvaluatedKey
    yield { items: Items, next: after }
  } while (after)
}

/** Writes items of the source to the target; returns how many were re-wrapped. */
export async function transferItems(
  { target, rewrapper }: CopySession,
  table: Table,
  items: readonly Item[],
): Promise<number> {
  const transferred: Item[] = []
  let rewrapped = 0
  await forEachLimited(items, MAX_KMS_CALLS, async (item, index) => {
    const outcome = await rewrapper.toTarget(table, item)
    transferred[index] = outcome.item
    if (outcome.isRewrapped) rewrapped += 1
  })
  await writeItems(target, table, transferred)
  return rewrapped
}

export function isCopied({ clock }: Pick<CopySession, 'clock'>, table: Table, item: Item): boolean {
  return classifyItem(table, item, clock) === 'copied'
}
