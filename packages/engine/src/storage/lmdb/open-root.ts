// Opens LMDB's files, and retries if another process was just closing them.
//
// The last process to close them destroys the mutexes in the lock file. A process that opens them at that
// moment waits for the lock and then assumes that the mutexes are valid: every transaction fails with
// EINVAL, also in processes that open the files later. When all of them have closed the files, the next
// one creates new mutexes.

import type * as lmdb from 'lmdb'
import { constants } from 'node:os'
import { failureCode } from './failures.ts'
import { loadLmdb, type NativeEnvironment } from './native.ts'
import { pause } from './process.ts'

const MAX_ATTEMPTS = 200
const MAX_PAUSE_MS = 20

export function openRoot(options: lmdb.RootDatabaseOptionsWithPath): lmdb.RootDatabase {
  for (let attempt = 1; ; attempt++) {
    const { root, abandoned, error } = attemptToOpen(options)
    if (root) return root
    if (abandoned) close(abandoned)
    if (failureCode(error) !== constants.errno.EINVAL || attempt === MAX_ATTEMPTS) throw error
    // A random pause, so that several processes do not retry in lockstep.
    pause(1 + Math.random() * MAX_PAUSE_MS)
  }
}

interface Attempt {
  root?: lmdb.RootDatabase
  /** Opened by the failed attempt, and to be closed. */
  abandoned?: NativeEnvironment | undefined
  error?: unknown
}

/** If lmdb fails after opening, it does not expose what it opened; but it sets the path of it first. */
function attemptToOpen(options: lmdb.RootDatabaseOptionsWithPath): Attempt {
  const { nativeAddon, open } = loadLmdb()
  const { prototype } = nativeAddon.Env
  const opened: NativeEnvironment[] = []
  Object.defineProperty(prototype, 'path', {
    configurable: true,
    set(this: NativeEnvironment, value: string) {
      opened.push(this)
      Object.defineProperty(this, 'path', { value, writable: true })
    },
  })
  try {
    return { root: open(options) }
  } catch (error) {
    return { abandoned: opened[0], error }
  } finally {
    Reflect.deleteProperty(prototype, 'path')
  }
}

function close(environment: NativeEnvironment): void {
  try {
    environment.close()
  } catch {
    // It is already closed if LMDB itself could not open it.
  }
}
