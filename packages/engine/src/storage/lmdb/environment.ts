// Shares one environment per data directory within this process. LMDB must not be opened twice: closing
// its lock file once drops every lock that the process holds on it. Another process would then consider
// the files unused and reset the lock file.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { assertCurrentFormat, DATA_FILE, prepareDirectory } from './format.ts'
import { cannotOpen } from './failures.ts'
import { SLOT_FILE } from '../item-keys/slot-file.ts'
import { openFiles, type Environment } from './lmdb.ts'
import { loadLmdb } from './native.ts'
import { openReadOnlyFiles, type ReadOnlyFiles } from './read-only.ts'

interface Shared {
  files: Environment
  users: Set<User>
}

interface User {
  onSnapshot: (() => void)[]
  onCommitFailure: ((code: number) => void)[]
}

/** Keyed by the identity of the data file, because a directory may have several paths. */
const shared = new Map<string, Shared>()

/** The same keys for all copies of this module, because a program may have two versions of the engine. */
const OPEN_IN_PROCESS = Symbol.for('@strongroom/engine open data files')
const processWide = globalThis as { [OPEN_IN_PROCESS]?: Set<string> }
const openInProcess = (processWide[OPEN_IN_PROCESS] ??= new Set())

/** Opens or creates a data directory; throws without changing anything if it is not a sound one. */
export function openEnvironment(directory: string): Environment {
  loadLmdb()
  prepareDirectory(directory)
  const opened = openAnyFormat(directory)
  try {
    // A conversion may have begun after the first look. From now on it would see this process.
    assertCurrentFormat(directory)
    if (!opened.keys.isComplete()) {
      throw cannotOpen(
        directory,
        `${SLOT_FILE} is missing, which has the keys of encrypted items: put it back, or restore a backup`,
      )
    }
    return opened
  } catch (error) {
    void opened.close()
    throw error
  }
}

/**
 * For checks, which change nothing: the files of a directory that has a data file with a sound header,
 * whatever its format is. LMDB reads nothing else of the data file until `databases` is called.
 */
export function openReadOnly(directory: string): ReadOnlyFiles {
  loadLmdb()
  const identity = identityOf(directory) ?? ''
  if (openInProcess.has(identity)) throw cannotOpen(directory, 'this process has it open')
  const files = openReadOnlyFiles(directory)
  openInProcess.add(identity)
  return {
    ...files,
    async close() {
      await files.close()
      openInProcess.delete(identity)
    },
  }
}

/** For conversions: whatever the format of the directory is. */
export function openAnyFormat(directory: string): Environment {
  const { files, users } = shared.get(identityOf(directory) ?? '') ?? openShared(directory)
  const user: User = { onSnapshot: [], onCommitFailure: [] }
  users.add(user)
  return {
    ...files,
    onSnapshot: (listener) => void user.onSnapshot.push(listener),
    onCommitFailure: (listener) => void user.onCommitFailure.push(listener),
    async close() {
      users.delete(user)
      if (users.size === 0) await files.close()
    },
  }
}

function openShared(directory: string): Shared {
  if (openInProcess.has(identityOf(directory) ?? '')) {
    throw cannotOpen(
      directory,
      'another copy of @strongroom/engine in this process has it open. Install one version of the package',
    )
  }
  const users = new Set<User>()
  const opened = openFiles(directory)
  opened.onSnapshot(() => {
    for (const { onSnapshot } of users) for (const listener of onSnapshot) listener()
  })
  opened.onCommitFailure((code) => {
    for (const { onCommitFailure } of users) for (const listener of onCommitFailure) listener(code)
  })
  const identity = identityOf(directory)!
  const close = async (): Promise<void> => {
    shared.delete(identity)
    await opened.close()
    openInProcess.delete(identity)
  }
  const made = { files: { ...opened, close }, users }
  shared.set(identity, made)
  openInProcess.add(identity)
  return made
}

/** Undefined if there is no file yet. No other file can get the identity of an open one. */
function identityOf(directory: string): string | undefined {
  const found = statSync(join(directory, DATA_FILE), { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
