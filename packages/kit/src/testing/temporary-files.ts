/**
 * Keeps the temporary files of a test run in memory, where a system has such a place with room, and
 * removes them at its end. On a disk a write is waited for until it is flushed, of which the tests
 * have so many that they would mostly wait.
 *
 * What later runs use again goes to LASTING_TMPDIR, where temporary files were before.
 */
import { lstatSync, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mayBeAlive } from '@strongroom/engine/storage/process-alive'

const MEMORY = '/dev/shm'
const NAME = 'strongroom-tests-'
/** Containers often have 64 MB there, which would not do. */
const ENOUGH_BYTES = 4 * 1024 ** 3

export default function setup() {
  if (process.env.LASTING_TMPDIR !== undefined || !hasRoom()) return
  removeAbandoned()
  const directory = join(MEMORY, `${NAME}${process.pid}`)
  mkdirSync(directory, { mode: 0o700 })
  process.env.LASTING_TMPDIR = tmpdir()
  process.env.TMPDIR = directory
  return () => rm(directory, { recursive: true, force: true })
}

/** Of runs that were killed. */
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
    return bavail * bsize >= ENOUGH_BYTES
  } catch {
    return false
  }
}
