/** Destinations: checked when they are set, sealed when they are stored. */
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { formBridgeError } from '../errors.ts'
import type { Destination, KeptSecrets } from '../keys/kept-secrets.ts'
import type { FormBridgeSettings } from '../settings.ts'
import { isSigningSecret } from './webhook-signature.ts'

/** Of sites that have none of their own. */
export function generalDestination(settings: FormBridgeSettings): Destination | undefined {
  const { FORM_BRIDGE_DESTINATION: url, FORM_BRIDGE_DESTINATION_SECRET: secret } = settings
  return url === undefined ? undefined : { url, secret }
}

export function destinationSealer(deps: {
  fetch: Pick<SafeFetch, 'check'>
  kept: Pick<KeptSecrets, 'sealDestination'>
}) {
  const invalid = (path: string, message: string) =>
    formBridgeError('destination_invalid', { details: [{ path, message }] })

  return async (site_id: string, { url, secret }: Destination): Promise<string> => {
    try {
      deps.fetch.check(url)
    } catch (error) {
      if (error instanceof SafeFetchError) throw invalid('body.url', error.message)
      throw error
    }
    if (secret !== undefined && !isSigningSecret(secret)) {
      throw invalid('body.secret', 'Is whsec_ and at least 24 bytes in base64')
    }
    return deps.kept.sealDestination(site_id, { url, secret })
  }
}
