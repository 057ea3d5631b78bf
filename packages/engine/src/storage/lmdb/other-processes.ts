import type { Environment } from './lmdb.ts'

/** Each line of a reader: process id, thread, transaction. */
const READER = /^\s*(\d+)\s/gm

/**
 * The ids of other processes that have the data directory open. LMDB gives each of them a slot with
 * its first read; the slots of killed processes are freed first.
 */
export function otherProcesses({ root }: Pick<Environment, 'root'>): number[] {
  root.readerCheck()
  const found = Array.from(root.readerList().matchAll(READER), ([, pid]) => Number(pid))
  return [...new Set(found)].filter((pid) => pid !== process.pid)
}
