/** Signs deliveries, as Standard Webhooks defines it and in Ferryhook's own format. */
import { createHmac } from 'node:crypto'
import { decodeSigningSecret } from './secret-list.ts'

export interface SignatureInput {
  /** The same in every attempt, so that a destination can recognise duplicates. */
  eventId: string
  body: Uint8Array
  /** `whsec_…`; each adds a signature, and a destination needs to know only one secret. */
  secrets: readonly string[]
  /** The time of the attempt, in milliseconds since the epoch. */
  now: number
}

export interface SignatureHeaders {
  'webhook-id': string
  'webhook-timestamp': string
  'webhook-signature': string
  'x-ferryhook-event-id': string
  'x-ferryhook-timestamp': string
  'x-ferryhook-signature': string
}

/** Throws if there is no secret or an invalid one, so that nothing is sent unsigned. */
export function signatureHeaders({
  eventId,
  body,
  secrets,
  now,
}: SignatureInput): SignatureHeaders {
  const keys = secrets.map(decodeSigningSecret).filter((key) => key !== undefined)
  if (keys.length === 0 || keys.length < secrets.length) {
    throw new TypeError('Signing needs at least one secret, and each must be whsec_ and base64')
  }
  const time = String(Math.floor(now / 1000))
  const sign = (prefix: string, encoding: 'base64' | 'hex') =>
    keys.map((key) => createHmac('sha256', key).update(prefix).update(body).digest(encoding))
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
