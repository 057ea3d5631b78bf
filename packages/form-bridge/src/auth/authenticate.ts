/**
 * Who asks: a site, by a signed request or by its key. Consistent reads of the table only, at every
 * request, so that a suspension or a rotation holds from the next request on.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import { formBridgeError } from '../errors.ts'
import { isoNow } from '../expiry.ts'
import type { Site } from '../items/site.ts'
import { hashOf, isKey } from '../keys/key-text.ts'
import type { KeptSecrets } from '../keys/kept-secrets.ts'
import {
  canonical,
  isSignatureOf,
  type RequestBytes,
  type SignatureHeaders,
  WINDOW_SECONDS,
} from '../signing/signed-request.ts'
import type { createAuthentication } from '../store/authentication.ts'

export interface Authenticated {
  site: Site
  signed: boolean
}

export type Authenticate = ReturnType<typeof createAuthenticate>

export function createAuthenticate(deps: {
  clock: Clock
  authentication: ReturnType<typeof createAuthentication>
  kept: Pick<KeptSecrets, 'openWebhookSecret'>
}) {
  const { clock, authentication, kept } = deps
  const unauthorized = () =>
    formBridgeError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })

  /** The current secret, and during the grace of a rotation the one before. */
  function sealedSecrets(site: Site): string[] {
    const { webhook_secret, previous_webhook_secret, previous_valid_until = '' } = site
    const inGrace = previous_webhook_secret !== undefined && previous_valid_until > isoNow(clock)
    return inGrace ? [webhook_secret, previous_webhook_secret] : [webhook_secret]
  }

  async function isSigned(site: Site, text: string, signature: string): Promise<boolean> {
    for (const sealed of sealedSecrets(site)) {
      const secret = await kept.openWebhookSecret(site.site_id, sealed)
      if (isSignatureOf(secret, text, signature)) return true
    }
    return false
  }

  return {
    async signed(request: RequestBytes, headers: SignatureHeaders): Promise<Authenticated> {
      const server_time = epochSeconds(clock)
      if (Math.abs(server_time - headers.timestamp) > WINDOW_SECONDS) {
        throw formBridgeError('timestamp_out_of_range', { data: { server_time } })
      }
      const site = await authentication.siteOfId(headers.site_id)
      const text = canonical(request, headers)
      if (!site || !(await isSigned(site, text, headers.signature))) throw unauthorized()
      // Last: who cannot sign must not be able to use up a nonce.
      if (!(await authentication.useNonce(headers))) throw formBridgeError('nonce_used')
      return { site, signed: true }
    },

    async bearer(key: string): Promise<Authenticated> {
      const known = isKey('live', key) ? await authentication.siteOfApiKey(hashOf(key)) : undefined
      if (!known) throw unauthorized()
      return { site: known.site, signed: false }
    },

    unauthorized,
  }
}
