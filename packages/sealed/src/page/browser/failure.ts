import { RequestFailed, type RequestFailure } from '../../client/errors.ts'
import type { TextKey } from './language.ts'

const TEXTS: Partial<Record<RequestFailure, TextKey>> = {
  rate_limited: 'failed.busy',
  unavailable: 'failed.offline',
  unreachable: 'failed.offline',
  lost: 'failed.offline',
  full: 'failed.full',
  too_hard: 'failed.busy',
}

/** What to tell of a request that failed. Anything else is a defect, and no text helps. */
export function failureText(error: unknown): TextKey {
  if (!(error instanceof RequestFailed)) throw error
  return TEXTS[error.code] ?? 'failed.refused'
}
