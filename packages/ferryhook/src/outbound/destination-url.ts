/** Which URLs events, alerts and tests may be sent to. */
import type { SafeFetch, SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { OwnAddresses } from '@strongroom/kit/safe-fetch/own-addresses'
import { ferryhookError } from '../errors.ts'
import type { FerryhookSettings } from '../settings.ts'

/** The server's own addresses are refused, so that no event becomes another event of this server. */
export function destinationPolicy(
  settings: Pick<
    FerryhookSettings,
    'FERRYHOOK_ALLOWED_NETWORKS' | 'FERRYHOOK_ALLOW_HTTP' | 'FERRYHOOK_SHARED_ADDRESS'
  >,
  own?: OwnAddresses,
): Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent' | 'own'> {
  return {
    own: own && { ...own, isShared: settings.FERRYHOOK_SHARED_ADDRESS },
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
