// Temporary files and directories of backups and restores. A killed backup leaves a copy of the data
// behind, which the next backup into the same directory removes.
import { readdir, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { mayBeAlive } from '../lmdb/process.ts'
import { cannotBackUp, isBackup, cannotRestore } from './backup-file.ts'

const TEMPORARY = /^(.+)\.([1-9]\d*)\.tmp$/
/** A running backup writes all the time, so a file unchanged for this long is a leftover. */
const QUIET_MS = 60 * 60_000

/** In the directory of the file, so that it can be renamed; unique to this process. */
export function temporaryOf(file: string): string {
  return `${file}.${process.pid}.tmp`
}

/** Keeps the files of running processes, which may be writing a backup. */
export async function removeKilledBackups(file: string): Promise<void> {
  const directory = dirname(file)
  // A directory that cannot be read is reported later.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const [, target, id] = TEMPORARY.exec(entry.name) ?? []
    if (id === undefined || !entry.isFile() || mayBeAlive(Number(id))) continue
    const leftover = join(directory, entry.name)
    if (!(await isLeftover(leftover, target === basename(file)))) continue
    await rm(leftover, { force: true }).catch((error: unknown) => {
      const reason = `"${leftover}", which a killed backup left behind, cannot be removed: remove it first`
      throw cannotBackUp(file, reason, error)
    })
  }
}

/**
 * A backup to another file must also have been unchanged for a while: a process of another machine,
 * which cannot be seen here, may be writing it. File times come from the system clock.
 */
async function isLeftover(path: string, isOfSameFile: boolean): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  if (!found) return false
  if (isOfSameFile) return found.size === 0 || isBackup(path)
  return Date.now() - found.mtimeMs > QUIET_MS && isBackup(path)
}

// A restore builds in a sibling of its directory. A killed restore leaves a copy of the data there, which
// the next restore into the same directory removes.

const MARK = '.restoring-'
const PROCESS_ID = /^[1-9]\d*$/

/** A sibling of the directory, so that it can be renamed; unique to this process. */
export function stagingOf(directory: string): string {
  return `${directory}${MARK}${process.pid}`
}

/** Keeps the directories of running processes, which may be restoring. */
export async function removeKilledRestores(file: string, directory: string): Promise<void> {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}${MARK}`
  // A missing parent is empty, and one that cannot be read is reported later.
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
