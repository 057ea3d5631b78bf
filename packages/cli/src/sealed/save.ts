/** Saves a secret to a file that only this user can read, and never overwrites one. */
import { constants } from 'node:fs'
import { access, type FileHandle, lstat, rm } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { Failure } from '@strongroom/kit/errors'
import { createPrivateFile } from '@strongroom/platform/private-file'
import { type Content, isFile } from '@strongroom/sealed/crypto/content'
import { MAX_NAME_BYTES, truncateBytes } from '@strongroom/sealed/crypto/file-name'
import { usageError } from '../command.ts'

/** Where to save: a new file, or a directory in which the sender's name for it is used. */
export type SaveTarget = { path: string; handle: FileHandle } | { directory: string }

/** A text has no name. */
const TEXT_NAME = 'secret.txt'
/** For a name that the file system does not take. */
const FALLBACK_NAME = 'secret.bin'
const MAX_NUMBERED_NAMES = 1000

/** Checks the target before a view is used. A new file is created already, so that saving cannot fail. */
export async function reserveTarget(output: string): Promise<SaveTarget> {
  const found = await lstat(output).catch(() => undefined)
  // A link to a directory counts as one.
  if (found && (await isWritableDirectory(output))) return { directory: output }
  if (found && !found.isDirectory()) throw targetExists()
  const isNewFile = !found && !/[/\\]$/.test(output)
  if (!isNewFile || !(await isWritableDirectory(dirname(output)))) {
    throw usageError(
      'The directory of --output does not exist or cannot be written: check its path',
    )
  }
  try {
    return { path: output, handle: await createPrivateFile(output) }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') throw targetExists()
    throw usageError(`Cannot create the file of --output (${code}): choose another path`)
  }
}

/** The current directory, for a secret that is or may be a file. */
export async function requireCurrentDirectory(): Promise<SaveTarget> {
  if (await isWritableDirectory('.')) return { directory: '.' }
  throw usageError('The current directory cannot be written: choose a path with --output')
}

/** Removes the file that was created for a secret that could not be opened. */
export async function releaseTarget(target: SaveTarget | undefined): Promise<void> {
  if (!target || !('handle' in target)) return
  await target.handle.close()
  await rm(target.path, { force: true })
}

function targetExists() {
  return usageError('The file of --output exists already: choose another path, or remove it')
}

async function isWritableDirectory(path: string): Promise<boolean> {
  // The slash requires a directory.
  return access(join(path, '/'), constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
}

/** Returns the path of the new file, which is numbered if the name is taken. */
export async function saveContent(target: SaveTarget, content: Content): Promise<string> {
  const bytes = isFile(content) ? content.bytes : content
  try {
    const { handle, path } =
      'handle' in target ? target : await createUnused(target.directory, nameInDirectory(content))
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return path
  } catch (cause) {
    const message = `Cannot save the secret (${codeOf(cause)}): this view is lost`
    throw new Failure('failed', message, { cause })
  }
}

/** A sender must not place a file that programs read by itself, such as `.bash_login`. */
function nameInDirectory(content: Content): string {
  return isFile(content) ? content.name.replace(/^\.+/, '_') : TEXT_NAME
}

/** The view is used by now, so a name that is taken or too long must not lose the secret. */
async function createUnused(
  directory: string,
  wanted: string,
): Promise<{ handle: FileHandle; path: string }> {
  for (let number = 0; ; number++) {
    const path = join(directory, number === 0 ? wanted : numberedName(wanted, number))
    try {
      return { handle: await createPrivateFile(path), path }
    } catch (error) {
      const code = codeOf(error)
      if (code === 'ENAMETOOLONG' && wanted !== FALLBACK_NAME) {
        return createUnused(directory, FALLBACK_NAME)
      }
      if (code !== 'EEXIST' || number === MAX_NUMBERED_NAMES) throw error
    }
  }
}

function numberedName(wanted: string, number: number): string {
  const { name, ext } = parse(wanted)
  const end = `-${number}${ext}`
  return truncateBytes(name, MAX_NAME_BYTES - Buffer.byteLength(end)) + end
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'failed'
}
