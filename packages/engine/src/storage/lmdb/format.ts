// The format version of a data directory, in a small file next to LMDB's. It is read before LMDB opens
// anything, so a directory of a newer version, or of another program, is rejected unchanged. While a
// directory is converted, the file has the new version, so that older programs cannot open it, and a
// record of the conversion, so that this one does not either.

import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, syncDirectory } from '@strongroom/platform/durable-directory'
import { createPrivateFileSync, temporaryPath } from '@strongroom/platform/private-file'
import { cannotOpen } from './failures.ts'

/** To raise it, add a conversion to `../conversions/list.ts`. */
export const FORMAT_VERSION = 5
const OLDEST_VERSION = 1
export const FORMAT_FILE = 'format.json'
export const DATA_FILE = 'data.mdb'
const LOCK_FILE = 'lock.mdb'
const FORMAT_NAME = 'strongroom-engine'

/** Whether a directory has data, of this engine or not; opening it then creates no store. */
export function hasData(directory: string): boolean {
  return [FORMAT_FILE, DATA_FILE].some((name) => existsSync(join(directory, name)))
}

/** Creates an empty directory's format file, or checks an existing one. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw cannotOpen(directory, `it cannot be created (${reason(error)})`, error)
  }
  const file = join(directory, FORMAT_FILE)
  if (existsSync(file)) return assertCurrentFormat(directory)
  const names = namesIn(directory).filter((name) => !name.startsWith(`${FORMAT_FILE}.`))
  // Another process may have started concurrently and written the format file.
  if (names.length > 0 && existsSync(file)) return assertCurrentFormat(directory)
  if (names.includes(DATA_FILE)) {
    throw cannotOpen(
      directory,
      `it contains an LMDB file but no ${FORMAT_FILE}, so it is not a data directory of this engine`,
    )
  }
  if (names.length > 0) {
    throw cannotOpen(
      directory,
      `it is not empty and not a data directory (it contains "${names[0]}")`,
    )
  }
  try {
    writeFormat(directory)
  } catch (error) {
    throw cannotOpen(directory, `it cannot be written (${reason(error)})`, error)
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    throw cannotOpen(directory, `it cannot be read (${reason(error)})`, error)
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

export interface Format {
  format: number
  /** A conversion that has not finished. */
  converting?: Converting
}

export interface Converting {
  from: number
  /** The process that converts; it may have died. */
  pid: number
  /** The directory with the copy of what was there before, once it is complete. */
  backup?: string
}

/** Undefined if there is no format file. */
export function readFormat(directory: string): Format | undefined {
  const file = join(directory, FORMAT_FILE)
  if (!existsSync(file)) return undefined
  let content: unknown
  try {
    content = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw cannotOpen(directory, `its ${FORMAT_FILE} cannot be read`, error)
  }
  if (isFormat(content)) return content
  throw cannotOpen(directory, `its ${FORMAT_FILE} does not contain a format version of this engine`)
}

function isFormat(content: unknown): content is Format {
  if (typeof content !== 'object' || content === null) return false
  const { name, format, converting } = content as Partial<Format> & { name?: unknown }
  if (name !== FORMAT_NAME || typeof format !== 'number') return false
  return (
    converting === undefined ||
    (typeof converting.from === 'number' && typeof converting.pid === 'number')
  )
}

/** Fails unless the directory has the format of this version, completely. */
export function assertCurrentFormat(directory: string): void {
  const { format, converting } = readFormat(directory) ?? { format: FORMAT_VERSION }
  if (format > FORMAT_VERSION) {
    throw cannotOpen(
      directory,
      `it was written by a newer version (format ${format}, and this version knows formats up to ${FORMAT_VERSION}): start that version again, or restore a backup that this version made`,
    )
  }
  if (!(format >= OLDEST_VERSION)) {
    throw cannotOpen(
      directory,
      `its format version is ${format}, and this engine knows versions ${OLDEST_VERSION} to ${FORMAT_VERSION} only`,
    )
  }
  if (converting !== undefined) {
    throw cannotOpen(
      directory,
      `process ${converting.pid} is converting it to format ${format}: wait until it has finished. If that process does not run any more, start the server, which continues`,
    )
  }
  if (format < FORMAT_VERSION) {
    throw cannotOpen(
      directory,
      `an older version wrote it (format ${format}, and this version needs ${FORMAT_VERSION}): start the server, which makes a copy of it and converts it`,
    )
  }
}

/**
 * LMDB would create its files with the permissions of the umask, and would not flush their names: all
 * acknowledged writes would be lost with the name of the data file. Existing names are flushed too, because
 * the process that created them may not have done so yet, or was killed before.
 */
export function createPrivateFiles(directory: string): void {
  for (const name of [DATA_FILE, LOCK_FILE]) createUnlessExists(join(directory, name))
  syncDirectory(directory)
}

function createUnlessExists(file: string): void {
  try {
    closeSync(createPrivateFileSync(file))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    // LMDB would follow a link that others planted.
    if (!lstatSync(file).isFile()) throw new Error(`"${file}" is not a file`, { cause: error })
  }
}

/** Writes the file atomically, even if two processes create the directory at the same time. */
export function writeFormat(directory: string, format: Format = { format: FORMAT_VERSION }): void {
  const temporary = temporaryPath(join(directory, FORMAT_FILE))
  const handle = createPrivateFileSync(temporary)
  try {
    writeSync(handle, `${JSON.stringify({ name: FORMAT_NAME, ...format })}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(temporary, join(directory, FORMAT_FILE))
  syncDirectory(directory)
}
