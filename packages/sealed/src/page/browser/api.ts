/** The API of the server that this page came from, and the texts for its failures. */
import { createSealedApi } from '../../client/api.ts'
import { RequestFailed, type RequestFailure } from '../../client/errors.ts'
import { defaultRetry, type RetryOptions } from '../../client/retry.ts'
import { ESCAPED_HASH, parseBase } from '../../crypto/link.ts'
import { formatDuration } from './format.ts'
import { text, type TextKey } from './language.ts'

/** Where the page is: the base of its links, and the API is below it. */
export const base = parseBase(location.origin + (location.pathname.split(ESCAPED_HASH)[0] ?? ''))

export const api = createSealedApi({ base })

/** Shows why it takes longer. */
export function retryWithStatus(setStatus: (status: () => string) => void): RetryOptions {
  return {
    ...defaultRetry,
    onWait: (reason, seconds) =>
      setStatus(() =>
        reason === 'lost'
          ? text('failed.retrying')
          : text('failed.waiting', { time: formatDuration(seconds) }),
      ),
  }
}

const FAILURE_TEXTS: Partial<Record<RequestFailure, TextKey>> = {
  rate_limited: 'failed.busy',
  unavailable: 'failed.offline',
  unreachable: 'failed.offline',
  lost: 'failed.offline',
  full: 'failed.full',
  too_hard: 'failed.busy',
  invalid_token: 'failed.late',
  request_used: 'fill.used',
  request_expired: 'fill.expired',
}

/** An error that is not a failed request is a defect, and is reported. */
export function failureText(error: unknown): TextKey {
  const code = error instanceof RequestFailed ? error.code : undefined
  if (!code) reportError(error)
  return (code && FAILURE_TEXTS[code]) ?? 'failed.refused'
}
