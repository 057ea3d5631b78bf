// Temporary files and directories of backups and restores. A killed backup leaves a copy of the data
// behind, which the next backup into the same directory removes.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isOwnDirectory, openOwnFile, temporaryPath } from '@strongroom/platform/private-file'
import { mayBeAlive } from '../lmdb/process.ts'
import { beginsAsBackup, cannotBackUp, cannotRestore } from './backup-file.ts'

/** Earlier versions had no random part. */
const TEMPORARY = /^(.+)\.([1-9]\d*)(?:-[0-9a-f]{16})?\.tmp$/
/** A running backup writes all the time, so a file unchanged for this long is a leftover. */
const QUIET_MS = 60 * 60_000

/** Temporary files of running backups of this process. A container's next process may have its id. */
const running = new Set<string>()

/** In the directory of the file, so that it can be renamed. */
export async function withTemporary<T>(
  file: string,
  work: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = temporaryPath(file)
  running.add(temporary)
  try {
    return await work(temporary)
  } finally {
    running.delete(temporary)
  }
}

/** Keeps the files of running processes, which may be writing a backup. */
export async function removeKilledBackups(file: string): Promise<void> {
  const directory = dirname(file)
  // A directory that cannot be read is reported later.
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    const [, target, id] = TEMPORARY.exec(entry.name) ?? []
    const leftover = join(directory, entry.name)
    if (id === undefined || !entry.isFile() || isRunning(Number(id), leftover)) continue
    if (!(await isLeftover(leftover, target === basename(file)))) continue
    await rm(leftover, { force: true }).catch((error: unknown) => {
      const reason = `"${leftover}", which a killed backup left behind, cannot be removed: remove it first`
      throw cannotBackUp(file, reason, error)
    })
  }
}

function isRunning(id: number, temporary: string): boolean {
  return id === process.pid ? running.has(temporary) : mayBeAlive(id)
}

/**
 * Only a file that this user owns, because others may have planted one. A backup to another file must also
 * have been unchanged for a while: a process of another machine, which cannot be seen here, may be writing
 * it. File times come from the system clock.
 */
async function isLeftover(path: string, isOfSameFile: boolean): Promise<boolean> {
  await using file = await openOwnFile(path)
  if (!file) return false
  const { size, mtimeMs } = await file.stat()
  if (isOfSameFile && size === 0) return true
  return (isOfSameFile || Date.now() - mtimeMs > QUIET_MS) && beginsAsBackup(file)
}

// A restore builds in a sibling of its directory. A killed restore leaves a copy of the data there, which
// the next restore into the same directory removes.

const MARK = '.restoring-'
/** With the random part of `mkdtemp`, which earlier versions did not have. */
const STAGING = /^([1-9]\d*)(?:-[A-Za-z0-9]{6})?$/

/** A sibling of the directory, so that it can be renamed. */
export function stagingPrefix(directory: string): string {
  return `${directory}${MARK}${process.pid}-`
}

/** Keeps the directories of running processes, which may be restoring. */
export async function removeKilledRestores(file: string, directory: string): Promise<void> {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}${MARK}`
  // A missing parent is empty, and one that cannot be read is reported later.
  const entries = await readdir(parent, { withFileTypes: true }).catch(() => [])
  for (const entry of entries) {
    if (!entry.isDirectory() || !entry.name.startsWith(prefix)) continue
    const [, id] = STAGING.exec(entry.name.slice(prefix.length)) ?? []
    if (id === undefined || mayBeAlive(Number(id))) continue
    const leftover = join(parent, entry.name)
    if (!(await isOwnDirectory(leftover))) continue
    await rm(leftover, { recursive: true, force: true }).catch((error: unknown) => {
      const reason = `"${leftover}", which a killed restore left behind, cannot be removed: remove it first`
      throw cannotRestore(file, reason, error)
    })
  }
}
