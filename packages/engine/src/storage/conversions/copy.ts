// The copy of a data directory that a conversion makes before it changes anything. It is inside the
// directory, because that may be the only place that the process can write to. LMDB writes it without
// free pages, so it contains nothing that was deleted before, and without the items of encrypted
// tables. It opens with the version that wrote it.

import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs'
import { join } from 'node:path'
import { diskAdvice } from '@strongroom/platform/disk-failure'
import { syncDirectory } from '@strongroom/platform/durable-directory'
import { ALL_TABLES } from '../catalog.ts'
import { cannotOpen } from '../lmdb/failures.ts'
import { DATA_FILE, writeFormat } from '../lmdb/format.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import { loadLmdb } from '../lmdb/native.ts'
import { assertSoundFile } from '../lmdb/pages.ts'
import type { TableRecord } from '../storage.ts'
import { COPY_NAME, removeFromCopy } from './copy-contents.ts'

const PARTIAL = '.partial'
/** For what is not counted, such as the file system's own records. */
const MARGIN_BYTES = 8 << 20

export interface Space {
  neededBytes: number
  freeBytes: number
}

/** What a copy and the growth during a conversion need, and what is free. */
export function spaceFor(
  env: Environment,
  growth: number,
  free: (directory: string) => number,
  directory: string,
): Space {
  const { pageSize, lastPageNumber } = env.root.getStats() as {
    pageSize: number
    lastPageNumber: number
  }
  const used = (lastPageNumber + 1) * pageSize
  const neededBytes = Math.ceil(used * (1 + growth)) + MARGIN_BYTES
  return { neededBytes, freeBytes: free(directory) }
}

export function freeBytes(directory: string): number {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

export function copyName(format: number, at: number): string {
  const time = new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, '')
  return `backup-format-${format}-${time}`
}

/** Complete, flushed and verified when it has its name. Only one process may call it at a time. */
export async function makeCopy(
  env: Environment,
  directory: string,
  name: string,
  format: number,
): Promise<void> {
  removePartialCopies(directory)
  const partial = join(directory, name + PARTIAL)
  try {
    mkdirSync(partial, { mode: 0o700 })
    await env.root.backup(partial, true)
    chmodSync(join(partial, DATA_FILE), 0o600)
    flush(join(partial, DATA_FILE))
    await verifyCopy(env, partial)
    const encrypted = encryptedTables(env)
    if (encrypted.length > 0) await removeFromCopy(partial, encrypted)
    writeFormat(partial, { format })
    renameSync(partial, join(directory, name))
    syncDirectory(directory)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    const advice = error instanceof Error && 'errno' in error ? Number(error.errno) : 0
    const reason = diskAdvice(directory, Math.abs(advice)) ?? String(error)
    throw cannotOpen(
      directory,
      `it could not be copied before its conversion: ${reason}. Nothing was changed`,
      error,
    )
  }
}

function encryptedTables(env: Environment): number[] {
  return Array.from(env.meta.getRange(ALL_TABLES), ({ value }) => value as TableRecord)
    .filter(({ encrypted }) => encrypted)
    .map(({ id }) => id)
}

/** A copy that is not needed, because nothing was converted. */
export function removeCopy(directory: string, name: string): void {
  if (COPY_NAME.test(name)) rmSync(join(directory, name), { recursive: true, force: true })
}

/** What a process that died in the middle of a copy left behind. */
function removePartialCopies(directory: string): void {
  for (const name of readdirSync(directory)) {
    if (!name.endsWith(PARTIAL) || !COPY_NAME.test(name.slice(0, -PARTIAL.length))) continue
    rmSync(join(directory, name), { recursive: true, force: true })
  }
}

function flush(file: string): void {
  const handle = openSync(file, 'r+')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}

/** Nothing writes to the original at this time, so both have the same number of entries. */
async function verifyCopy(env: Environment, copy: string): Promise<void> {
  assertSoundFile(copy)
  const root = loadLmdb().open({ path: copy, noSubdir: false, maxDbs: 8, readOnly: true })
  try {
    for (const name of ['items', 'entries', 'changes', 'meta'] as const) {
      const found = countOf(root.openDB(name, { encoding: 'binary' }))
      // Opened again with other options, the original would get another order of keys.
      const expected = countOf(env[name])
      if (found !== expected) throw new Error(`the copy has ${found} of ${expected} ${name}`)
    }
  } finally {
    await root.close()
    rmSync(join(copy, 'lock.mdb'), { force: true })
  }
}

function countOf(database: object): number {
  return (database as { getStats(): { entryCount: number } }).getStats().entryCount
}
