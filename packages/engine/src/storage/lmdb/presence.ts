// LMDB's table of readers, as the list of processes that have a data directory open.

import type * as lmdb from 'lmdb'
import { loadLmdb, type NativeTransaction } from './native.ts'

const READ_ONLY = 0x20000

/**
 * Keeps a slot in the table, without a snapshot, for as long as the files are open: other processes see
 * there who uses them. LMDB checks by a lock of the operating system whether the owner of a slot still
 * runs, so a killed process does not count, even if its id is in use again.
 */
export function showPresence(root: lmdb.RootDatabase): NativeTransaction {
  const presence = holdSnapshot(root)
  loadLmdb().nativeAddon.resetTxn(presence.address)
  return presence
}

/** The same with a snapshot, whose pages no process reuses until it is aborted. */
export function holdSnapshot(root: lmdb.RootDatabase): NativeTransaction {
  const { Txn } = loadLmdb().nativeAddon
  return new Txn((root as unknown as { env: object }).env, READ_ONLY)
}

/** The ids of other processes that have the files open. */
export function otherProcesses(root: lmdb.RootDatabase): number[] {
  root.readerCheck()
  const lines = (root as unknown as { readerList(): string }).readerList().split('\n')
  const ids = lines.map((line) => Number(/^\s*(\d+) /.exec(line)?.[1] ?? process.pid))
  return [...new Set(ids)].filter((id) => id !== process.pid)
}
