/** Saves a secret to a file that only this user can read, and never overwrites one. */
import { constants } from 'node:fs'
import { access, lstat } from 'node:fs/promises'
import { dirname, join, parse } from 'node:path'
import { Failure } from '@strongroom/kit/errors'
import { createPrivateFile } from '@strongroom/platform/private-file'
import { type Content, isFile } from '@strongroom/sealed/crypto/content'
import { usageError } from '../command.ts'

/** Where to save: a new file, or a directory in which the sender's name for it is used. */
export type SaveTarget = { path: string } | { directory: string }

/** A text has no name. */
const TEXT_NAME = 'secret.txt'
const MAX_NUMBERED_NAMES = 1000

/** Checks the target before a view is used. */
export async function saveTarget(output: string): Promise<SaveTarget> {
  const found = await lstat(output).catch(() => undefined)
  const directory = found ? output : dirname(output)
  // A link to a directory counts as one.
  const isDirectory = found !== undefined && (await isWritableDirectory(output))
  if (found && !isDirectory) {
    throw usageError('The file of --output exists already: choose another path, or remove it')
  }
  if (!(await isWritableDirectory(directory))) {
    throw usageError(
      'The directory of --output does not exist or cannot be written: check its path',
    )
  }
  return isDirectory ? { directory: output } : { path: output }
}

async function isWritableDirectory(path: string): Promise<boolean> {
  // The slash requires a directory.
  return access(join(path, '/'), constants.W_OK).then(
    () => true,
    () => false,
  )
}

/** Returns the path of the new file, which is numbered if the name is taken. */
export async function saveContent(target: SaveTarget, content: Content): Promise<string> {
  const wanted = 'path' in target ? target.path : join(target.directory, nameInDirectory(content))
  const bytes = isFile(content) ? content.bytes : content
  try {
    const { handle, path } = await createUnused(wanted)
    try {
      await handle.writeFile(bytes)
      await handle.sync()
    } finally {
      await handle.close()
    }
    return path
  } catch (cause) {
    const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : 'failed'
    throw new Failure('failed', `Cannot save the secret (${reason}): this view is lost`, { cause })
  }
}

/** A sender must not place a file that programs read by itself, such as `.bash_login`. */
function nameInDirectory(content: Content): string {
  return isFile(content) ? content.name.replace(/^\.+/, '_') : TEXT_NAME
}

/** The view is used by now, so a name that was taken meanwhile must not lose the secret. */
async function createUnused(wanted: string) {
  const { dir, name, ext } = parse(wanted)
  for (let number = 0; ; number++) {
    const path = number === 0 ? wanted : join(dir, `${name}-${number}${ext}`)
    try {
      return { handle: await createPrivateFile(path), path }
    } catch (error) {
      const isTaken = error instanceof Error && 'code' in error && error.code === 'EEXIST'
      if (!isTaken || number === MAX_NUMBERED_NAMES) throw error
    }
  }
}
