// What storage says when LMDB or the disk fails: always what happened, what became of the request,
// and what to do. The codes are LMDB's own (negative) or the operating system's (positive).

import { statfsSync } from 'node:fs'
import { constants } from 'node:os'
import { DynamoError, internalError } from '../errors.ts'

const { ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO } = constants.errno
const MDB_MAP_FULL = -30792
const MDB_PANIC = -30795

export const NO_SPACE = 'no space is left on its disk. Free some space and try again'

/** What a failed write means for whoever runs the program; undefined if nothing is known of it. */
export function writeAdvice(directory: string, code: number): string | undefined {
  switch (causeOf(directory, code)) {
    case ENOSPC:
    case EDQUOT:
      return NO_SPACE
    case EFBIG:
      return 'its file has reached a limit. Raise the file size limit of the process and try again'
    case EROFS:
    case EACCES:
    case EPERM:
      return 'it is read-only. Make it writable and start again'
    case EIO:
      return 'a write failed or was cut short. Check the disk, its free space and the file size limit of the process'
    case MDB_MAP_FULL:
      return 'its file cannot be mapped into memory any further. Raise the address space limit of the process'
    case MDB_PANIC:
      return 'an earlier I/O error made its file unusable to this process. Check the disk and start again'
    default:
      return undefined
  }
}

/** LMDB reports a write that a full disk cut short as an I/O error. */
function causeOf(directory: string, code: number): number {
  return code === EIO && isFull(directory) ? ENOSPC : code
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
  const cause = causeOf(directory, code)
  // A full disk is the one failure that a program may want to tell from the others.
  return cause === ENOSPC || cause === EDQUOT ? Object.assign(failure, { code: 'ENOSPC' }) : failure
}

/** A new directory takes a fifth of that. */
export function isFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < 1 << 20
  } catch {
    return false
  }
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

/** A data directory or backup that cannot be used; the message says why, for whoever runs the program. */
export class DataError extends Error {
  override readonly name = 'DataError'
}

/** A data directory that must not be opened; nothing in it was changed. */
export function cannotOpen(directory: string, reason: string, cause?: unknown): DataError {
  return new DataError(`Cannot open the data directory "${directory}": ${reason}`, { cause })
}
