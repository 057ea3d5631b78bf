// Checks a data directory that no process has open, and changes nothing in it. LMDB trusts its file and
// may crash the process if it is damaged, so it reads records only after all pages were checked without it.

import { closeSync, fstatSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Item } from '../../values/types.ts'
import { boundsOfId } from '../bounds.ts'
import { requireKey } from '../item-keys/encrypted-value.ts'
import { SLOT_FILE } from '../item-keys/slot-file.ts'
import { openReadOnly } from '../lmdb/environment.ts'
import { DataError } from '../lmdb/failures.ts'
import { DATA_FILE, FORMAT_FILE } from '../lmdb/format.ts'
import type { Databases, Snapshot } from '../lmdb/lmdb.ts'
import { findDamage, readLastMeta } from '../lmdb/pages.ts'
import type { ReadOnlyFiles } from '../lmdb/read-only.ts'
import { lmdbRange } from '../reads.ts'
import type { TableRecord } from '../storage.ts'
import { type Problem, Problems } from './problems.ts'
import { checkFormat } from './format.ts'
import { checkPages, type DataFile } from './pages.ts'
import { checkRecords } from './records.ts'

export interface CheckProgress {
  what: 'pages' | 'records'
  done: number
  total: number
}

export interface CheckedTable {
  name: string
  items(): Iterable<Item>
}

export interface DirectoryCheckOptions {
  onProgress?: (progress: CheckProgress) => void
  /** Called before the directory is closed, if all items can be read. */
  onReadable?: (tables: CheckedTable[]) => Promise<void>
}

export interface DirectoryReport {
  /** Undefined if it is unknown. */
  format: number | undefined
  /** How much was checked. */
  pages: number
  items: number
  entries: number
  changes: number
  /** At most a hundred. */
  problems: Problem[]
}

/** Fails if there is no data directory, or if a process has it open. */
export async function checkDirectory(
  directory: string,
  options: DirectoryCheckOptions = {},
): Promise<DirectoryReport> {
  assertDataDirectory(directory)
  const problems = new Problems()
  const format = checkFormat(directory, problems)
  const counts = { pages: 0, items: 0, entries: 0, changes: 0 }
  const report = { format, ...counts, problems: problems.list }
  const handle = openDataFile(directory, problems)
  if (handle === undefined) return report
  try {
    const damage = fstatSync(handle).size === 0 ? 'is empty' : findDamage(handle)
    if (damage === undefined) await checkFile(directory, handle, report, problems, options)
    else problems.add('file', 'restore', `${DATA_FILE} ${damage}`)
    return report
  } finally {
    closeSync(handle)
  }
}

function assertDataDirectory(directory: string): void {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    const isMissing = codeOf(error) === 'ENOENT'
    const reason = isMissing ? 'it does not exist' : `it cannot be read (${codeOf(error)})`
    throw cannotCheck(directory, reason, error)
  }
  if (names.includes(DATA_FILE) || names.includes(FORMAT_FILE)) return
  throw cannotCheck(directory, `it is not a data directory, because it has no ${DATA_FILE}`)
}

function openDataFile(directory: string, problems: Problems): number | undefined {
  try {
    return openSync(join(directory, DATA_FILE), 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') problems.add('file', 'restore', `${DATA_FILE} is missing`)
    else problems.add('file', 'access', `${DATA_FILE} cannot be read (${codeOf(error)})`)
    return undefined
  }
}

async function checkFile(
  directory: string,
  handle: number,
  report: DirectoryReport,
  problems: Problems,
  options: DirectoryCheckOptions,
): Promise<void> {
  const files = openReadOnly(directory)
  try {
    const [other] = files.otherProcesses()
    if (other !== undefined) throw inUse(directory, `process ${other}`)
    const meta = readLastMeta(handle)
    if (meta === undefined) throw inUse(directory)
    const file: DataFile = { handle, size: fstatSync(handle).size, meta }
    const records = await runPageCheck(file, report, problems, options)
    // LMDB could crash on a damaged page, and records of another format have other rules.
    if (problems.list.length > 0) return
    const isUnchanged = () => readLastMeta(handle)?.transaction === meta.transaction
    await runRecordCheck(files, records, report, problems, options, () => {
      if (!isUnchanged()) throw inUse(directory)
    })
  } finally {
    await files.close()
  }
}

const PAGES_PER_TURN = 500

/** Returns the number of records in the trees. */
async function runPageCheck(
  file: DataFile,
  report: DirectoryReport,
  problems: Problems,
  { onProgress }: DirectoryCheckOptions,
): Promise<number> {
  const total = file.meta.lastPage + 1
  const check = checkPages(file, problems)
  let step = check.next()
  for (let turns = 1; !step.done; step = check.next(), turns++) {
    report.pages = step.value
    if (turns % PAGES_PER_TURN !== 0) continue
    onProgress?.({ what: 'pages', done: step.value, total })
    await nextTurn()
  }
  const entriesOf = (name: string): number => step.value.get(name)?.entries ?? 0
  return entriesOf('items') + entriesOf('entries') + entriesOf('changes')
}

async function runRecordCheck(
  files: ReadOnlyFiles,
  total: number,
  report: DirectoryReport,
  problems: Problems,
  { onProgress, onReadable }: DirectoryCheckOptions,
  assertUnchanged: () => void,
): Promise<void> {
  const databases = files.databases()
  const transaction = files.snapshot()
  try {
    // This snapshot must be the one whose pages were checked.
    assertUnchanged()
    if (!databases.keys.isComplete()) {
      problems.add('file', 'restore', `${SLOT_FILE}, which has the keys of items, is missing`)
      return
    }
    const { catalog, ...checked } = await checkRecords(databases, transaction, problems, {
      onProgress: ({ items, entries, changes }) =>
        onProgress?.({ what: 'records', done: items + entries + changes, total }),
    })
    Object.assign(report, checked)
    if (problems.list.some(({ remedy }) => remedy === 'restore')) return
    await onReadable?.(catalog.tables.map((table) => readable(databases, transaction, table)))
  } finally {
    transaction.done()
    await databases.keys.close()
  }
}

function readable(databases: Databases, transaction: Snapshot, table: TableRecord): CheckedTable {
  return {
    name: table.name,
    *items() {
      const range = { ...lmdbRange(boundsOfId(table.id), false), transaction }
      for (const { value } of databases.items.getRange(range)) yield requireKey(value)
    },
  }
}

function cannotCheck(directory: string, reason: string, cause?: unknown): DataError {
  return new DataError(`Cannot check the data directory "${directory}": ${reason}`, { cause })
}

function inUse(directory: string, who = 'a process'): DataError {
  return cannotCheck(
    directory,
    `${who} has it open. Stop every server, worker and command that uses it, then check it again`,
  )
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason'
}
