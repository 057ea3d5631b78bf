// Checks an open storage, on one snapshot while others write. `check/directory.ts` checks a directory that
// nobody has open, including its pages.

import type { Environment, KeySource, Table } from './lmdb/lmdb.ts'
import { Problems } from './check/problems.ts'
import { checkRecords, type RecordCounts } from './check/records.ts'
import type { OpenStorage } from './open-storage.ts'
import { readCurrent } from './reads.ts'

export interface CheckReport {
  items: number
  entries: number
  /** At most a hundred. */
  problems: string[]
}

interface CheckOptions {
  onProgress?: (checked: RecordCounts) => void
}

export async function checkStorage(
  storage: OpenStorage,
  options: CheckOptions = {},
): Promise<CheckReport> {
  storage.refresh()
  const { environment } = storage
  const transaction = environment.snapshot()
  try {
    const problems = new Problems()
    const { items, entries } = await checkRecords(environment, transaction, problems, {
      onProgress: options.onProgress,
      isReplaced: (table, key) => isReplaced(environment, table, key),
    })
    return { items, entries, problems: problems.list.map(({ message }) => message) }
  } finally {
    transaction.done()
  }
}

/** A newer snapshot shows a value with its key, or none. */
function isReplaced(env: Environment, table: Table<unknown>, key: KeySource): boolean {
  try {
    readCurrent(env, table, key)
    return true
  } catch {
    return false
  }
}
