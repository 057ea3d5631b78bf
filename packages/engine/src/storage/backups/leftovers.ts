// Temporary files and directories of backups and restores. A killed backup leaves a copy of the data
// behind, which the next backup into the same directory removes.
import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isOwnDirectory, openOwnFile, temporaryPath } from '@strongroom/platform/private-file'
import { mayBeAlive } from '../lmdb/process.ts'
import { beginsAsBackup, cannotBackUp, cannotRestore } from './backup-file.ts'

/** Earlier versions had no random part. */
const TEMPORARY = /^(.+)\.([1-9]\d*)(?:-[0-9a-f]{16})?\.tmp$/
/** A backup that is running writes all the time. */
const QUIET_MS = 60 * 60_000

/** Temporary files of running backups of this process. A container's next process may have its id. */
const running = new Set<string>()

/** Beside the file, so that it can be moved there. */
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

/** What belongs to a process that is alive stays: it may be writing a backup. */
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
 * Only what this user owns: others may have planted a file of that name. Of backups to other files only one that is quiet: another machine, whose processes are not seen
 * here, may be writing it. The times of files are those of the system's clock.
 */
async function isLeftover(path: string, isOfSameFile: boolean): Promise<boolean> {
  await using file = await openOwnFile(path)
  if (!file) return false
  const { size, mtimeMs } = await file.stat()
  if (isOfSameFile && size === 0) return true
  return (isOfSameFile || Date.now() - mtimeMs > QUIET_MS) && beginsAsBackup(file)
}

// A restore builds beside its directory. A killed one leaves a copy of the data there,
// which the next restore into the same directory removes.

const MARK = '.restoring-'
/** With the random part of `mkdtemp`, which earlier versions did not have. */
const STAGING = /^([1-9]\d*)(?:-[A-Za-z0-9]{6})?$/

/** Beside the directory, so that it can be moved there. */
export function stagingPrefix(directory: string): string {
  return `${directory}${MARK}${process.pid}-`
}

/** What belongs to a process that is alive stays: it may be restoring. */
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
