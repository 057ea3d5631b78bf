/** The signature that a destination gets: that of Standard Webhooks, which Ferryhook verifies too. */
import { createHmac } from 'node:crypto'

const SECRET = /^whsec_([A-Za-z0-9+/]{32,}={0,2})$/

export function isSigningSecret(secret: string): boolean {
  return SECRET.test(secret)
}

export function signatureHeaders(
  id: string,
  timestamp: number,
  body: string,
  secret: string | undefined,
): Record<string, string> {
  const headers = { 'webhook-id': id, 'webhook-timestamp': String(timestamp) }
  if (secret === undefined) return headers
  const [, key = ''] = SECRET.exec(secret) ?? []
  if (key === '') throw new TypeError('Cannot sign a submission: a secret is whsec_ and base64')
  const mac = createHmac('sha256', Buffer.from(key, 'base64'))
  const signature = mac.update(`${id}.${timestamp}.${body}`).digest('base64')
  return { ...headers, 'webhook-signature': `v1,${signature}` }
}
