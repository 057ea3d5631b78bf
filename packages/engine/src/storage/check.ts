// Checks an open storage, on one snapshot while others write. `check/directory.ts` checks a directory that
// nobody has open, including its pages.

import { Problems } from './check/problems.ts'
import { checkRecords, type RecordCounts } from './check/records.ts'
import type { OpenStorage } from './open-storage.ts'

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
    const { items, entries } = await checkRecords(
      environment,
      transaction,
      problems,
      options.onProgress,
    )
    return { items, entries, problems: problems.list.map(({ message }) => message) }
  } finally {
    transaction.done()
  }
}
