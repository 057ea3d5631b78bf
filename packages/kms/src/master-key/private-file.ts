/** Files that other users of the machine cannot read or replace, written completely or not at all. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, mkdir, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createPrivateFile } from '@strongroom/platform/private-file'
import { MasterKeyError } from './errors.ts'

/** Permissions are POSIX's; elsewhere the directory of a user is private by itself. */
const POSIX = process.platform !== 'win32'
const MAX_BYTES = 4096
const SUFFIX = '.tmp'
const LEFTOVER_AGE_MS = 60_000

/** Reads a small file, after making sure that it is private. */
export async function readPrivate(path: string): Promise<string> {
  // Opening a pipe would otherwise block until something is written to it.
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await file.stat()
  if (!found.isFile())
    throw new MasterKeyError('MasterKeyForeign', `"${path}" is no file: give the path of one`)
  const { mode } = found
  if (POSIX && (mode & 0o077) !== 0) {
    throw new MasterKeyError(
      'MasterKeyExposed',
      `Others may read or write "${path}": run chmod 600 "${path}"`,
    )
  }
  await requirePrivateDirectory(dirname(await realpath(path)))
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

/** Throws EEXIST, and changes nothing, if there is such a file. */
export async function createPrivate(path: string, text: string): Promise<void> {
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await requirePrivateDirectory(directory)
  const temporary = await writeTemporary(path, text)
  try {
    // Unlike renaming, linking never replaces a file that another process created in the meantime.
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(directory)
}

/** There is always one of the two under the path: the old content, then the new. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path)
  const directory = dirname(target)
  const temporary = await writeTemporary(target, text)
  try {
    await rename(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
  await syncDirectory(directory)
}

async function writeTemporary(path: string, text: string): Promise<string> {
  const [directory, prefix] = [dirname(path), `.${basename(path)}.`]
  await clearLeftovers(directory, prefix)
  const temporary = join(directory, `${prefix}${randomBytes(6).toString('hex')}${SUFFIX}`)
  try {
    await using file = await createPrivateFile(temporary)
    await file.writeFile(text)
    await file.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  return temporary
}

/**
 * What a crash left behind holds a copy of the secret, so the next writer removes it. A young
 * file may be of another process that is about to put it into place. The times of files are those of
 * the system's clock.
 */
async function clearLeftovers(directory: string, prefix: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue
    const leftover = join(directory, name)
    // Already moved if its process has just put it into place.
    const found = await lstat(leftover).catch(() => undefined)
    if (found?.isFile() && Date.now() - found.mtimeMs > LEFTOVER_AGE_MS)
      await rm(leftover, { force: true })
  }
}

async function requirePrivateDirectory(directory: string): Promise<void> {
  const { mode } = await stat(directory)
  if (POSIX && (mode & 0o022) !== 0) {
    throw new MasterKeyError(
      'MasterKeyExposed',
      `Others may replace files in "${directory}": run chmod 700 "${directory}"`,
    )
  }
}

/** So that a new name survives a power failure. */
export async function syncDirectory(directory: string): Promise<void> {
  if (!POSIX) return
  await using handle = await open(directory, 'r')
  await handle.sync()
}
