// Where a restore builds, and what is left there of one that was killed: a copy of the data that
// nobody knows of, so the next restore into the same directory removes it.

import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { cannotRestore } from './backup-file.ts'
import { mayBeAlive } from './process-alive.ts'

const MARK = '.restoring-'
const PROCESS_ID = /^[1-9]\d*$/

/** Beside the directory, so that it can be moved there; of this process alone. */
export function stagingOf(directory: string): string {
  return `${directory}${MARK}${process.pid}`
}

/** What belongs to a process that is alive stays: it may be restoring. */
export async function removeKilledRestores(file: string, directory: string): Promise<void> {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}${MARK}`
  // A parent that is not there has nothing in it, and one that cannot be read is told of later.
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const id = entry.name.slice(prefix.length)
    if (!PROCESS_ID.test(id) || mayBeAlive(Number(id))) continue
    const leftover = join(parent, entry.name)
    await rm(leftover, { recursive: true, force: true }).catch((error: unknown) => {
      const reason = `"${leftover}", which a killed restore left behind, cannot be removed: remove it first`
      throw cannotRestore(file, reason, error)
    })
  }
}
