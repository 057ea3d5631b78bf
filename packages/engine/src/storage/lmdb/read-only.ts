// Opens LMDB's files for reading only, and holds a snapshot: a server that starts meanwhile sees this
// process in the table of readers and does not reuse any page of the snapshot.

import { type Databases, openDatabases, openOrThrow, type Snapshot } from './lmdb.ts'
import { openRoot } from './open-root.ts'
import { holdSnapshot, otherProcesses } from './presence.ts'

export interface ReadOnlyFiles {
  otherProcesses(): number[]
  /** Opens the databases, the first time that LMDB reads anything but the header of the data file. */
  databases(): Databases
  /** Of the databases, after they were opened. */
  snapshot(): Snapshot
  close(): Promise<void>
}

/** Call from `environment.ts` only, because a process must not open the files twice. */
export function openReadOnlyFiles(directory: string): ReadOnlyFiles {
  const root = openOrThrow(directory, () =>
    openRoot({ path: directory, noSubdir: false, readOnly: true, maxDbs: 8, maxReaders: 256 }),
  )
  const held = openOrThrow(directory, () => holdSnapshot(root))
  return {
    otherProcesses: () => otherProcesses(root),
    databases: () => openDatabases(root, directory),
    snapshot: () => root.useReadTransaction(),
    close() {
      held.abort()
      return root.close()
    },
  }
}
