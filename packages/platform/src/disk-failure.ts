/** Explains failed writes to a disk and what to do about them. */
import { statfsSync } from 'node:fs'
import { constants } from 'node:os'

const { ENOSPC, EDQUOT, EFBIG, EROFS, EACCES, EPERM, EIO } = constants.errno

/** A disk with less free space counts as full. A new data directory needs a fifth of it. */
const MIN_FREE_BYTES = 1 << 20

export const DISK_FULL_ADVICE = 'no space is left on its disk. Free some space and try again'

/**
 * The advice for an error number of the operating system, as the end of a sentence about what could
 * not be written; undefined for any other number.
 */
export function diskAdvice(directory: string, errno: number): string | undefined {
  if (isDiskFull(directory, errno)) return DISK_FULL_ADVICE
  switch (errno) {
    case EFBIG:
      return 'its file has reached a limit. Raise the file size limit of the process and try again'
    case EROFS:
    case EACCES:
    case EPERM:
      return 'it is read-only. Make it writable and start again'
    case EIO:
      return 'a write failed or was cut short. Check the disk, its free space and the file size limit of the process'
    default:
      return undefined
  }
}

/** Whether a write failed because the disk is full. A write that a full disk cut short is an I/O error. */
export function isDiskFull(directory: string, errno: number): boolean {
  return errno === ENOSPC || errno === EDQUOT || (errno === EIO && isNearlyFull(directory))
}

export function isNearlyFull(directory: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize < MIN_FREE_BYTES
  } catch {
    return false
  }
}
