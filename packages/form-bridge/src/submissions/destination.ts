/** Destinations of submissions: validated when they are set, encrypted in the table. Requests are signed. */
import { createHmac } from 'node:crypto'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import type { Destination, SiteSecrets } from '../credentials/secrets.ts'
import { formBridgeError } from '../errors.ts'
import type { FormBridgeSettings } from '../settings.ts'

/** For sites without their own destination. */
export function defaultDestination(
  settings: Pick<FormBridgeSettings, 'FORM_BRIDGE_DESTINATION' | 'FORM_BRIDGE_DESTINATION_SECRET'>,
): Destination | undefined {
  const { FORM_BRIDGE_DESTINATION: url, FORM_BRIDGE_DESTINATION_SECRET: secret } = settings
  return url === undefined ? undefined : { url, secret }
}

export type EncryptDestination = (site_id: string, destination: Destination) => Promise<string>

const SIGNING_SECRET = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/

export function isSigningSecret(secret: string): boolean {
  return SIGNING_SECRET.test(secret)
}

/** Rejects a destination that the server may not send to. */
export function createEncryptDestination(deps: {
  fetch: Pick<SafeFetch, 'check'>
  siteSecrets: Pick<SiteSecrets, 'encryptDestination'>
}): EncryptDestination {
  const invalid = (path: string, message: string) =>
    formBridgeError('destination_invalid', { details: [{ path, message }] })

  return async (site_id, { url, secret }) => {
    try {
      deps.fetch.check(url)
    } catch (error) {
      if (error instanceof SafeFetchError) throw invalid('body.url', error.message)
      throw error
    }
    if (secret !== undefined && !isSigningSecret(secret)) {
      throw invalid('body.secret', 'Must be whsec_ and at least 24 bytes in base64')
    }
    return deps.siteSecrets.encryptDestination(site_id, { url, secret })
  }
}

/** Signs as Standard Webhooks define it, which Ferryhook verifies too. */
export function webhookHeaders(
  id: string,
  timestamp: number,
  body: string,
  secret: string | undefined,
): Record<string, string> {
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp) }
  if (secret === undefined) return headers
  const [, key = ''] = SIGNING_SECRET.exec(secret) ?? []
  if (key === '')
    throw new TypeError('Cannot sign a submission: the secret is not whsec_ and base64')
  const mac = createHmac('sha256', Buffer.from(key, 'base64'))
  const signature = mac.update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}
