// The format version of a data directory, in a small file next to LMDB's. It is read before LMDB opens
// anything, so a directory of a newer version, or of another program, is rejected unchanged.

import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { cannotOpen } from './failures.ts'

/** Version 2 added logs of changes, and backups. */
export const FORMAT_VERSION = 2
const OLDEST_VERSION = 1
export const FORMAT_FILE = 'format.json'
export const DATA_FILE = 'data.mdb'
const LOCK_FILE = 'lock.mdb'
const FORMAT_NAME = 'strongroom-engine'

/**
 * Creates a directory and its parents. Node's recursive mkdir never returns if the system reports ENOENT
 * although the parent exists, as it does below /proc.
 */
function makeDirectory(directory: string): void {
  const parent = dirname(directory)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(directory) || !statSync(directory).isDirectory()) throw error
  }
}

/** Creates an empty directory's format file, or checks an existing one. */
export function prepareDirectory(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (error) {
    throw cannotOpen(directory, `it cannot be created (${reason(error)})`, error)
  }
  const file = join(directory, FORMAT_FILE)
  if (existsSync(file)) return assertKnownFormat(directory, file)
  const names = namesIn(directory).filter((name) => !name.startsWith(`${FORMAT_FILE}.`))
  // Another process may have started concurrently and written the format file.
  if (names.length > 0 && existsSync(file)) return assertKnownFormat(directory, file)
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

function assertKnownFormat(directory: string, file: string): void {
  let format: unknown
  try {
    const content: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof content === 'object' && content !== null && 'name' in content) {
      if (content.name === FORMAT_NAME && 'format' in content) format = content.format
    }
  } catch (error) {
    throw cannotOpen(directory, `its ${FORMAT_FILE} cannot be read`, error)
  }
  if (typeof format !== 'number') {
    throw cannotOpen(
      directory,
      `its ${FORMAT_FILE} does not contain a format version of this engine`,
    )
  }
  if (!isKnownVersion(format)) {
    throw cannotOpen(directory, `its format version is ${format}, and ${KNOWN_VERSIONS}`)
  }
  // From now on, versions that do not log changes must not write to it.
  if (format < FORMAT_VERSION) writeFormat(directory)
}

export const KNOWN_VERSIONS = `this engine knows versions ${OLDEST_VERSION} to ${FORMAT_VERSION} only`

export function isKnownVersion(format: unknown): boolean {
  return Number(format) >= OLDEST_VERSION && Number(format) <= FORMAT_VERSION
}

/** LMDB would create its files with the permissions of the umask. */
export function createPrivateFiles(directory: string): void {
  for (const name of [DATA_FILE, LOCK_FILE]) closeSync(openSync(join(directory, name), 'a', 0o600))
}

/** Writes the file atomically, even if two processes create the directory at the same time. */
export function writeFormat(directory: string): void {
  const temporary = join(directory, `${FORMAT_FILE}.${process.pid}`)
  const handle = openSync(temporary, 'w', 0o600)
  try {
    writeSync(handle, `${JSON.stringify({ name: FORMAT_NAME, format: FORMAT_VERSION })}\n`)
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
  renameSync(temporary, join(directory, FORMAT_FILE))
  syncDirectory(directory)
}

/** Makes a rename or a new file in the directory survive a power failure. */
export function syncDirectory(directory: string): void {
  // Windows cannot open directories, and needs no such flush.
  if (process.platform === 'win32') return
  const handle = openSync(directory, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
