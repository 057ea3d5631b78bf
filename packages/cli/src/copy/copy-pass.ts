/** The first pass: writes every item of the source to the target, and stores how far it got. */
import type { Item } from '@strongroom/kit/db'
import type { Table } from '@strongroom/kit/table'
import type { TableProgress } from '@strongroom/server/copies/item'
import { pluralize } from '../output.ts'
import { classifyItem } from './scope.ts'
import { type CopySession, scanPages, transferItems } from './session.ts'

const PROGRESS_ITEMS = 10_000

export async function copyTable(
  session: CopySession,
  table: Table,
  before: TableProgress | undefined,
  save: (progress: TableProgress) => Promise<void>,
): Promise<void> {
  if (before?.isDone) return
  const start = before?.after === undefined ? undefined : (JSON.parse(before.after) as Item)
  if (start) session.progress(`${table.name}: continues after an interruption`)
  let items = 0
  let reported = 0
  for await (const page of scanPages(session, session.source, table, start)) {
    const copied = page.items.filter(
      (item) => classifyItem(table, item, session.clock) === 'copied',
    )
    await transferItems(session, table, copied)
    items += copied.length
    await save({
      isDone: page.next === undefined,
      ...(page.next && { after: JSON.stringify(page.next) }),
    })
    if (page.next && items - reported >= PROGRESS_ITEMS) {
      reported = items
      session.progress(`${table.name}: ${items} items so far`)
    }
  }
  session.progress(`${table.name}: ${pluralize(items, 'item')} copied`)
}
