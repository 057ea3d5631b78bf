// Errors of LMDB and the disk. Messages say what happened, whether the request was stored, and what to
// do. Codes are LMDB's (negative) or the operating system's (positive).

import { diskAdvice, isDiskFull } from '@strongroom/platform/disk-failure'
import { DynamoError, internalError } from '../../errors.ts'

const MDB_MAP_FULL = -30792
const MDB_PANIC = -30795

/** The cause of a failed write and what to do; undefined for an unknown code. */
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

/** The error of every write in the failed commit. */
export function commitFailed(directory: string, code: number): DynamoError {
  const advice = writeAdvice(directory, code) ?? `LMDB failed with code ${code}`
  const failure = new DynamoError(
    'InternalServerError',
    `Cannot write to the data directory "${directory}": ${advice}. Nothing of this request was stored`,
    500,
    { isDiskFailure: true },
  )
  // A full disk is the only failure that programs may want to handle differently.
  return isDiskFull(directory, code) ? Object.assign(failure, { code: 'ENOSPC' }) : failure
}

/** The error of every write in a commit that was stored, but whose replaced values can still be read. */
export function erasureFailed(directory: string, cause: unknown): DynamoError {
  const detail = cause instanceof Error ? cause.message : String(cause)
  const failure = new DynamoError(
    'InternalServerError',
    `Cannot overwrite the keys of deleted items in the data directory "${directory}" (${detail}). The request was stored. Check the disk and start again, which overwrites them`,
    500,
    { isDiskFailure: true },
  )
  failure.cause = cause
  return failure
}

/** The code of an error that LMDB threw, or 0. */
export function failureCode(error: unknown): number {
  if (typeof error === 'object' && error !== null && 'code' in error) {
    if (typeof error.code === 'number') return error.code
  }
  return 0
}

export function storageClosed(directory: string): DynamoError {
  return internalError(`Cannot use the data directory "${directory}": it was closed`)
}

/** A data directory or backup cannot be used; the message is for the operator. */
export class DataError extends Error {
  override readonly name = 'DataError'
}

/** The data directory was not opened, and nothing in it was changed. */
export function cannotOpen(directory: string, reason: string, cause?: unknown): DataError {
  return new DataError(`Cannot open the data directory "${directory}": ${reason}`, { cause })
}
