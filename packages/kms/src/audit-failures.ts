/** What the KMS says when its audit log cannot be written: why, and what to do. */
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { writeAdvice } from '@strongroom/engine/storage/failures'
import { KmsError } from './errors.ts'

/** Does what needs the disk, and tells what the system says against it. */
export function explained<T>(path: string, act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw auditFailed(path, error)
  }
}

/** What the system did not say is a defect, and stays as it is. */
function auditFailed(path: string, error: unknown): unknown {
  if (!(error instanceof Error && 'errno' in error && typeof error.errno === 'number')) return error
  // Node has the negative of the system's number.
  return cannotWrite(path, writeAdvice(dirname(path), -error.errno) ?? error.message, error)
}

/** Only a part of the record was written, for which the system gives no reason. */
export function auditCutShort(path: string): KmsError {
  return cannotWrite(path, writeAdvice(dirname(path), constants.errno.EIO) ?? 'it was cut short')
}

/** Named as what a caller may try again. */
function cannotWrite(path: string, reason: string, cause?: unknown): KmsError {
  const message = `Cannot write the audit log "${path}": ${reason}. The KMS answers no call that it cannot record`
  return new KmsError('KMSInternalException', message, 500, { cause })
}
