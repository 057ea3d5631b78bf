// Puts tables in place of others, in one commit: every reader sees all of the old tables or all of the
// new ones. Items stay where they are, because they are stored under the id of their table.

import { resourceInUse, resourceNotFound, tableAlreadyExists } from '../errors.ts'
import { Ids, tableKey } from './catalog.ts'
import { closeStream } from './changes/streams.ts'
import type { TableRecord } from './storage.ts'
import type { Transaction } from './transaction.ts'

export interface TableSwap {
  name: string
  /** The table that gets the name. */
  by: string
  /** The name under which the present table is kept. */
  keepAs: string
}

export function swapTables(tx: Transaction, swaps: readonly TableSwap[], now: number): void {
  const ids = new Ids(tx)
  for (const { name, by, keepAs } of swaps) {
    const [present, next] = [tx.catalog.byName(name), tx.catalog.byName(by)]
    if (present === undefined || next === undefined) throw resourceNotFound()
    const busy = [present, next].find(({ restoring }) => restoring)
    if (busy) throw resourceInUse(`Table is being created: ${busy.name}`)
    if (tx.catalog.byName(keepAs) !== undefined) throw tableAlreadyExists(keepAs)
    tx.putMeta(tableKey(by), undefined)
    rename(tx, next, name, now)
    rename(tx, present, keepAs, now)
  }
  ids.save()
}

/** Streams are found by the name of their table, so an open one ends. */
function rename(tx: Transaction, table: TableRecord, name: string, now: number): void {
  const { logs = [], ...rest } = table
  for (const { kind, id } of logs) if (kind === 'stream') closeStream(tx, id, now)
  const left = logs.filter(({ kind }) => kind !== 'stream')
  const record: TableRecord = {
    ...rest,
    name,
    version: table.version + 1,
    ...(left.length > 0 && { logs: left }),
  }
  tx.putMeta(tableKey(name), record)
}
