/**
 * Files that other users of the machine cannot read, replace or redirect, also in a directory that
 * they can write to.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, constants, fchmodSync, fstatSync, openSync, unlinkSync } from 'node:fs'
import { lstat, open, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from './durable-directory.ts'

const OWNER_ONLY = 0o600
const GROUP_AND_OTHERS = 0o077
/** Windows has neither; a user's directories are private there. */
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants as Partial<typeof constants>
const CREATE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | O_NOFOLLOW

/** Fails with EEXIST if anything of that name exists, such as a planted link or file. */
export async function createPrivateFile(path: string, mode = OWNER_ONLY): Promise<FileHandle> {
  const handle = await open(path, CREATE, OWNER_ONLY)
  try {
    // Without this, the umask and the default permissions of the directory decide.
    await handle.chmod(mode)
    return handle
  } catch (error) {
    await handle.close()
    await rm(path, { force: true })
    throw error
  }
}

/** The same, for what opens synchronously; returns a file descriptor. */
export function createPrivateFileSync(path: string): number {
  const descriptor = openSync(path, CREATE, OWNER_ONLY)
  try {
    fchmodSync(descriptor, OWNER_ONLY)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    unlinkSync(path)
    throw error
  }
}

/** Opens a file to append to, or creates it. Never follows a link, and removes access of others. */
export function openPrivateLog(path: string): number {
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | O_NOFOLLOW | O_NONBLOCK
  const descriptor = openSync(path, flags, OWNER_ONLY)
  try {
    const found = fstatSync(descriptor)
    if (!found.isFile()) throw new Error(`"${path}" is not a file: move it away`)
    if ((found.mode & GROUP_AND_OTHERS) !== 0 && process.platform !== 'win32')
      fchmodSync(descriptor, OWNER_ONLY)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Replaces a file in one step. A link of that name is replaced too, and not followed. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const temporary = temporaryPath(path)
  const handle = await createPrivateFile(temporary, mode)
  try {
    await handle.writeFile(content)
    await handle.sync()
    await handle.close()
    await rename(temporary, path)
    syncDirectory(dirname(path))
  } catch (error) {
    await handle.close().catch(() => undefined)
    await rm(temporary, { force: true })
    throw error
  }
}

/** A path beside the file that cannot be guessed, so nothing can be planted there. */
export function temporaryPath(path: string): string {
  return `${path}.${process.pid}-${randomBytes(8).toString('hex')}.tmp`
}

/** Opens a file of this user for reading; undefined for a link, a pipe and what belongs to others. */
export async function openOwnFile(path: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | O_NOFOLLOW | O_NONBLOCK
  const handle = await open(path, flags).catch(() => undefined)
  if (handle === undefined) return undefined
  const found = await handle.stat()
  if (found.isFile() && isOwn(found)) return handle
  await handle.close()
  return undefined
}

/** Whether it is a directory of this user, and not a link to one. */
export async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found !== undefined && found.isDirectory() && isOwn(found)
}

function isOwn({ uid }: { uid: number }): boolean {
  const user = process.geteuid?.()
  return user === undefined || uid === user
}
