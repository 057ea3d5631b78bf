/** Which URLs events, alerts and tests may be sent to. */
import type { SafeFetch, SafeFetchOptions } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { ServiceDeps } from '@strongroom/kit/service'
import { ferryhookError } from '../errors.ts'
import type { FerryhookSettings } from '../settings.ts'

export const USER_AGENT = 'Ferryhook/1.0'

/** The server's own addresses are refused, so that no event becomes another event of this server. */
export function destinationPolicy(
  settings: Pick<
    FerryhookSettings,
    | 'FERRYHOOK_ALLOWED_NETWORKS'
    | 'FERRYHOOK_ALLOW_HTTP'
    | 'FERRYHOOK_SHARED_ADDRESS'
    | 'FERRYHOOK_DELIVER'
    | 'FERRYHOOK_SIGNUP'
  >,
  { ownAddresses: own, isLocal = false }: Pick<ServiceDeps, 'ownAddresses' | 'isLocal'> = {},
): Pick<SafeFetchOptions, 'allow' | 'allowLoopback' | 'allowHttp' | 'ports' | 'userAgent' | 'own'> {
  return {
    own: own && { ...own, isShared: settings.FERRYHOOK_SHARED_ADDRESS },
    // Who can use the server can reach this machine anyway. A stand-alone worker cannot know that, and
    // open sign-up suggests that strangers come through a tunnel.
    allowLoopback: isLocal && settings.FERRYHOOK_DELIVER && settings.FERRYHOOK_SIGNUP !== 'open',
    allow: settings.FERRYHOOK_ALLOWED_NETWORKS,
    allowHttp: settings.FERRYHOOK_ALLOW_HTTP,
    ports: 'unprivileged',
    userAgent: USER_AGENT,
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
