/** The signatures that destinations get: those of Standard Webhooks, and our own, of the same key. */
import { createHmac } from 'node:crypto'
import { webhookKey } from './webhook-secret.ts'

export interface Outbound {
  /** The same at every attempt, so that a destination knows what it had before. */
  eventId: string
  body: Uint8Array
  /** `whsec_…`; each makes a signature, and a destination needs to know one of them. */
  secrets: readonly string[]
  /** Of the attempt, in milliseconds since the epoch. */
  now: number
}

export interface OutboundHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
  'x-ferryhook-event-id': string
  'x-ferryhook-timestamp': string
  'x-ferryhook-signature': string
}

/** Throws if there is no secret, or one that cannot be used: nothing goes out unsigned. */
export function outboundHeaders({ eventId, body, secrets, now }: Outbound): OutboundHeaders {
  const keys = secrets.map(webhookKey).filter((key) => key !== undefined)
  if (keys.length === 0 || keys.length < secrets.length) {
    throw new TypeError(
      'Every secret to sign with must be whsec_ and base64, and there must be one',
    )
  }
  const time = String(Math.floor(now / 1000))
  const sign = (before: string, encoding: 'base64' | 'hex') =>
    keys.map((key) => createHmac('sha256', key).update(before).update(body).digest(encoding))
  const standard = sign(`${eventId}.${time}.`, 'base64').map((signature) => `v1,${signature}`)
  const own = sign(`${time}.`, 'hex').map((signature) => `v1=${signature}`)
  return {
    'webhook-id': eventId,
    'webhook-timestamp': time,
    'webhook-signature': standard.join(' '),
    'x-ferryhook-event-id': eventId,
    'x-ferryhook-timestamp': time,
    'x-ferryhook-signature': [`t=${time}`, ...own].join(','),
  }
}
