// Opens LMDB's files, again if another process was just closing them.
//
// Whoever closes them last destroys the mutexes in the lock file. A process that opens them at that
// very moment waits for the lock, and then takes itself for one of several that use sound mutexes:
// whatever it begins fails with EINVAL, and so it is for everyone who comes while it stays. Once all
// of them are gone, the next one makes new mutexes.

import * as lmdb from 'lmdb'
import { constants } from 'node:os'
import { failureCode } from './failures.ts'
import { pause } from './process.ts'

interface NativeEnvironment {
  path: string
  close(): void
}

const { Env } = (lmdb as unknown as { nativeAddon: { Env: { prototype: NativeEnvironment } } })
  .nativeAddon

const MAX_ATTEMPTS = 200
const MAX_PAUSE_MS = 20

export function openRoot(options: lmdb.RootDatabaseOptionsWithPath): lmdb.RootDatabase {
  for (let attempt = 1; ; attempt++) {
    const { root, abandoned, error } = attemptToOpen(options)
    if (root) return root
    if (abandoned) close(abandoned)
    if (failureCode(error) !== constants.errno.EINVAL || attempt === MAX_ATTEMPTS) throw error
    // Not in step with others who try the same.
    pause(1 + Math.random() * MAX_PAUSE_MS)
  }
}

interface Attempt {
  root?: lmdb.RootDatabase
  /** Opened and not in use. */
  abandoned?: NativeEnvironment | undefined
  error?: unknown
}

/** lmdb keeps to itself what it has opened when it fails after that; but it sets its path first. */
function attemptToOpen(options: lmdb.RootDatabaseOptionsWithPath): Attempt {
  const opened: NativeEnvironment[] = []
  Object.defineProperty(Env.prototype, 'path', {
    configurable: true,
    set(this: NativeEnvironment, value: string) {
      opened.push(this)
      Object.defineProperty(this, 'path', { value, writable: true })
    },
  })
  try {
    return { root: lmdb.open(options) }
  } catch (error) {
    return { abandoned: opened[0], error }
  } finally {
    Reflect.deleteProperty(Env.prototype, 'path')
  }
}

function close(environment: NativeEnvironment): void {
  try {
    environment.close()
  } catch {
    // It is closed already where LMDB itself could not open it.
  }
}
