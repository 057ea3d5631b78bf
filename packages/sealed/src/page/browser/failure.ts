import { RequestFailed, type RequestFailure } from '../../client/errors.ts'
import type { TextKey } from './language.ts'

const TEXTS: Partial<Record<RequestFailure, TextKey>> = {
  rate_limited: 'failed.busy',
  unavailable: 'failed.offline',
  unreachable: 'failed.offline',
  lost: 'failed.offline',
  full: 'failed.full',
  too_hard: 'failed.busy',
  invalid_token: 'failed.late',
}

/** What to tell of something that failed. What is no failed request is a defect, and no text helps. */
export function failureText(error: unknown): TextKey {
  const code = error instanceof RequestFailed ? error.code : undefined
  if (!code) reportError(error)
  return (code && TEXTS[code]) ?? 'failed.refused'
}
