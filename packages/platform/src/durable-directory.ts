/**
 * Directories whose entries survive a power failure. A flushed file is lost if the entry of its directory
 * was not flushed, and so is everything below a new directory whose own entry was not.
 */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

/** Makes a new name in the directory survive a power failure. */
export function syncDirectory(directory: string): void {
  // Windows cannot open directories; NTFS records names in its journal.
  if (process.platform === 'win32') return
  let handle: number | undefined
  try {
    handle = openSync(directory, 'r')
    fsyncSync(handle)
  } catch (error) {
    if (!isUnsupported(error)) throw error
  } finally {
    if (handle !== undefined) closeSync(handle)
  }
}

/** A parent may be closed to this user, and some network file systems cannot flush directories. */
function isUnsupported(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return ['EACCES', 'EPERM', 'EINVAL', 'ENOTSUP', 'EROFS'].includes(String(code))
}

/**
 * Creates a directory and its parents, private to this user, and flushes their entries. Returns the topmost
 * directory that it created. The entry of an existing directory is flushed too, because a process that
 * created it may not have done so yet, or was killed before.
 */
export function makeDirectory(directory: string): string | undefined {
  const isNew = !existsSync(directory)
  const above = isNew ? makeDirectory(dirname(directory)) : undefined
  try {
    // Node's recursive mkdir never returns if the system reports ENOENT although the parent exists, as it
    // does below /proc.
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
  syncDirectory(dirname(directory))
  return above ?? (isNew ? directory : undefined)
}
