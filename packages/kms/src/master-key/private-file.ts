/** Files that other users of the machine cannot read or replace, written atomically. */
import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { link, lstat, open, readdir, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { makeDirectory, syncDirectory } from '@strongroom/platform/durable-directory'
import { createPrivateFile } from '@strongroom/platform/private-file'
import { MasterKeyError } from './errors.ts'

/** Only POSIX has these permissions; on other systems a user's directory is private by default. */
const POSIX = process.platform !== 'win32'
const MAX_BYTES = 4096
const SUFFIX = '.tmp'
const LEFTOVER_AGE_MS = 60_000

/** Reads a small file after checking that it is private. */
export async function readPrivate(path: string): Promise<string> {
  // Opening a pipe would otherwise block until something is written to it.
  await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  const found = await file.stat()
  if (!found.isFile())
    throw new MasterKeyError(
      'MasterKeyForeign',
      `"${path}" is not a file: use the path of a master key file`,
    )
  const directory = dirname(await realpath(path))
  if (POSIX && (found.mode & (isCredentialsDirectory(directory) ? 0o037 : 0o077)) !== 0) {
    throw new MasterKeyError(
      'MasterKeyExposed',
      `Others may read or write "${path}": run chmod 600 "${path}"`,
    )
  }
  await requirePrivateDirectory(directory)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0)
  return buffer.toString('utf8', 0, bytesRead)
}

/**
 * Only the service can enter the directory in which systemd puts its credentials. There, an access
 * control list makes them readable for the service, and stat shows that as a right of the group.
 */
function isCredentialsDirectory(directory: string): boolean {
  return directory === process.env['CREDENTIALS_DIRECTORY']
}

/** Throws EEXIST and changes nothing if the file exists. */
export async function createPrivate(path: string, text: string): Promise<void> {
  const directory = dirname(path)
  makeDirectory(directory)
  await requirePrivateDirectory(directory)
  const temporary = await writeTemporary(path, text)
  try {
    // Unlike renaming, linking never replaces a file that another process has just created.
    await link(temporary, path)
  } finally {
    await rm(temporary, { force: true })
  }
  syncDirectory(directory)
}

/** Atomic: the path always has either the old or the new content. */
export async function replacePrivate(path: string, text: string): Promise<void> {
  const target = await realpath(path)
  const directory = dirname(target)
  const temporary = await writeTemporary(target, text)
  try {
    await rename(temporary, target)
  } finally {
    await rm(temporary, { force: true })
  }
  syncDirectory(directory)
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
 * Removes leftovers of crashes, because they contain the secret. A recent file may belong to another
 * process that is about to rename it. File times come from the system clock.
 */
async function clearLeftovers(directory: string, prefix: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.startsWith(prefix) || !name.endsWith(SUFFIX)) continue
    const leftover = join(directory, name)
    // Its process may have just renamed it.
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
