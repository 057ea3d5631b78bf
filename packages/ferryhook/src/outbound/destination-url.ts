/** Which URLs events, alerts and tests may be sent to. */
import type { SafeFetch, SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { ferryhookError } from '../errors.ts'
import type { FerryhookSettings } from '../settings.ts'

export function destinationPolicy(
  settings: Pick<FerryhookSettings, 'FERRYHOOK_ALLOWED_NETWORKS' | 'FERRYHOOK_ALLOW_HTTP'>,
): Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent'> {
  return {
    allow: settings.FERRYHOOK_ALLOWED_NETWORKS,
    allowHttp: settings.FERRYHOOK_ALLOW_HTTP,
    ports: 'unprivileged',
    userAgent: 'Ferryhook/1.0',
  }
}

/** Reports a bad URL when it is saved. Every request checks the resolved address again. */
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
