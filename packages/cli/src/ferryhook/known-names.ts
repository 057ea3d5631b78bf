/** Names that the API of Ferryhook knows, so that a slip is told before anything is sent. */
import { nearest } from '@strongroom/kit/nearest'
import { UsageError } from '../command.ts'

export const providers: readonly string[] = [
  'stripe',
  'github',
  'shopify',
  'slack',
  'twilio',
  'sendgrid',
  'square',
  'paypal',
  'gitlab',
  'linear',
  'standard-webhooks',
  'paddle',
  'discord',
  'zendesk',
  'custom',
]

export const eventStatuses: readonly string[] = [
  'received',
  'processing',
  'retrying',
  'held',
  'delivered',
  'failed',
  'filtered',
  'unrouted',
  'signature_failed',
]

export function oneOf(option: string, names: readonly string[], given: string): string {
  if (names.includes(given)) return given
  const meant = nearest(given, names)
  const hint = meant === undefined ? `choose from ${names.join(', ')}` : `did you mean ${meant}?`
  throw new UsageError(`--${option} knows no "${given}": ${hint}`)
}
