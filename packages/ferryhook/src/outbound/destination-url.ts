import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { ferryhookError } from '../errors.ts'

/** For a friendly answer now; what is really dialled is checked at each request. */
export function checkDestination(
  safeFetch: Pick<SafeFetch, 'check'>,
  url: string,
  path: string,
): void {
  try {
    safeFetch.check(url)
  } catch (error) {
    if (!(error instanceof SafeFetchError)) throw error
    const { reason, message } = error
    throw ferryhookError('invalid_destination', { details: [{ path, message }], data: { reason } })
  }
}
