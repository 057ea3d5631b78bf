// What is stored of background work, see `jobs.ts`.

import type { Environment } from '../lmdb/lmdb.ts'
import type { Transaction } from '../transaction.ts'

export interface CopyJob {
  kind: 'copy'
  /** The ids of the items to copy, and of their copies. */
  source: number
  target: number
  /** The log of what happened to the source, if that can change, and the moment that is wanted. */
  log?: number
  from: number
  /** The key of the last item that was copied. */
  after?: string
  /** All items are copied, and the changes after `from` up to here are still to be undone. */
  undoTo?: number
  items: number
  bytes: number
}

export type Job =
  | { kind: 'fill'; table: number; owner: number; after?: string }
  | { kind: 'remove'; space: 'items' | 'entries' | 'changes'; id: number }
  | CopyJob

export type JobKey = ['job', number]

export const ALL_JOBS = { start: ['job'], end: ['job!'] }

export function addJob(tx: Transaction, id: number, job: Job): void {
  tx.putMeta(['job', id], job)
}

/** The copies under way of a table or backup, or those that need a log. */
export function copiesOf(env: Environment, id: number): CopyJob[] {
  const copies: CopyJob[] = []
  for (const { value } of env.meta.getRange(ALL_JOBS)) {
    const job = value as Job
    if (job.kind === 'copy' && (job.source === id || job.log === id)) copies.push(job)
  }
  return copies
}

/** Whether it is dropped, and all of it is still there until its turn comes. */
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
