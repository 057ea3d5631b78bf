// Records of background jobs; `job-runner.ts` runs them.

import type { Environment } from '../lmdb/lmdb.ts'
import type { Transaction } from '../transaction.ts'

export interface CopyJob {
  kind: 'copy'
  /** The ids under which the items and their copies are stored. */
  source: number
  target: number
  /** The log of changes to the source, if it can change, and the last change that the copy includes. */
  log?: number
  from: number
  /** The key of the last copied item. */
  after?: string
  /** Some items have been copied before, because a conversion changed their order. */
  isRepeated?: true
  /** Set when all items are copied: the changes after `from` up to this one must still be undone. */
  undoTo?: number
}

export type Job =
  | { kind: 'fill'; table: number; owner: number; after?: string }
  /** Encrypts items that were stored before their table had the option. */
  | { kind: 'encrypt'; table: number; after?: string; isEncrypted?: true }
  | { kind: 'remove'; space: 'items' | 'entries' | 'changes'; id: number }
  | CopyJob

export type JobKey = ['job', number]

export const ALL_JOBS = { start: ['job'], end: ['job!'] }

export function addJob(tx: Transaction, id: number, job: Job): void {
  tx.putMeta(['job', id], job)
}

/** The running copies of a table or backup, or those that need a log. */
export function copiesOf(env: Environment, id: number): CopyJob[] {
  const copies: CopyJob[] = []
  for (const { value } of env.meta.getRange(ALL_JOBS)) {
    const job = value as Job
    if (job.kind === 'copy' && (job.source === id || job.log === id)) copies.push(job)
  }
  return copies
}

/** Whether a removal is scheduled; until it runs, all of the data is still there. */
export function isScheduledForRemoval(
  env: Environment,
  space: 'items' | 'changes',
  id: number,
): boolean {
  for (const { value } of env.meta.getRange(ALL_JOBS)) {
    const job = value as Job
    if (job.kind === 'remove' && job.space === space && job.id === id) return true
  }
  return false
}
