/**
 * Puts the temporary files of a test run into memory, if the system has a large enough place for
 * them, and removes them at the end. On a disk the tests would mostly wait for flushes.
 *
 * Files for later runs go to LASTING_TMPDIR, the original temporary directory.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mayBeAlive } from '@strongroom/engine/storage/lmdb/process'

const MEMORY = '/dev/shm'
const NAME = 'strongroom-tests-'
/** Containers often have only 64 MB there. */
const MIN_FREE_BYTES = 4 * 1024 ** 3

export default function setup() {
  if (process.env.LASTING_TMPDIR !== undefined || !hasRoom()) return
  removeAbandoned()
  const directory = join(MEMORY, `${NAME}${process.pid}`)
  mkdirSync(directory, { mode: 0o700 })
  process.env.LASTING_TMPDIR = tmpdir()
  process.env.TMPDIR = directory
  return () => rm(directory, { recursive: true, force: true })
}

/** Removes the files of runs that were killed. */
function removeAbandoned() {
  for (const name of readdirSync(MEMORY)) {
    const path = join(MEMORY, name)
    if (!name.startsWith(NAME) || mayBeAlive(Number(name.slice(NAME.length))) || !isOurs(path))
      continue
    rmSync(path, { recursive: true, force: true })
  }
}

function isOurs(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.uid === process.getuid?.()
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY)
    return bavail * bsize >= MIN_FREE_BYTES
  } catch {
    return false
  }
}
