// What storage says when LMDB or the disk fails: always what happened, what became of the request,
// and what to do. The codes are LMDB's own (negative) or the operating system's (positive).

import { diskAdvice, isDiskFull } from '@strongroom/platform/disk-failure'
import { DynamoError, internalError } from '../../errors.ts'

const MDB_MAP_FULL = -30792
const MDB_PANIC = -30795

/** What a failed write means and what to do; undefined for a code that is not known. */
export function writeAdvice(directory: string, code: number): string | undefined {
  switch (code) {
    case MDB_MAP_FULL:
      return 'its file cannot be mapped into memory any further. Raise the address space limit of the process'
    case MDB_PANIC:
      return 'an earlier I/O error made its file unusable to this process. Check the disk and start again'
    default:
      return diskAdvice(directory, code)
  }
}

/** The disk or the system is at fault; the message says what to do. */
export class CommitFailed extends DynamoError {}

/** Every write that shared the failed commit gets this. */
export function commitFailed(directory: string, code: number): CommitFailed {
  const advice = writeAdvice(directory, code) ?? `LMDB failed with code ${code}`
  const failure = new CommitFailed(
    'InternalServerError',
    `Cannot write to the data directory "${directory}": ${advice}. Nothing of this request was stored`,
    500,
  )
  // A full disk is the one failure that programs may want to handle differently.
  return isDiskFull(directory, code) ? Object.assign(failure, { code: 'ENOSPC' }) : failure
}

/** For errors that LMDB throws, which carry their code. */
export function failureCode(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    if (typeof error.code === 'number') return error.code
  }
  return 0
}

export function storageClosed(directory: string): DynamoError {
  return internalError(`Cannot use the data directory "${directory}": it was closed`)
}

/** A data directory or backup that cannot be used; the message tells the operator why. */
export class DataError extends Error {
  override readonly name = 'DataError'
}

/** A data directory that must not be opened; nothing in it was changed. */
export function cannotOpen(directory: string, reason: string, cause?: unknown): DataError {
  return new DataError(`Cannot open the data directory "${directory}": ${reason}`, { cause })
}
