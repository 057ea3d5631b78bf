/** A source: the address that a provider sends its webhooks to. */
import * as z from 'zod'
import { keyTemplate } from './key-template.ts'
import { count, id, isoTime, json, milliseconds, sealed } from './values.ts'

export const sourceKey = keyTemplate({ PK: 'USER#{userId}', SK: 'SRC#{sourceId}' })
export const sourceById = keyTemplate({ GSI3PK: 'SRCID#{sourceId}', GSI3SK: 'SOURCE' })

export const providers = [
  'stripe',
  'github',
  'shopify',
  'custom',
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
] as const

/** Of sources and connections; `deleted` ones stay, so that their history can be read. */
export const lifecycle = z.enum(['active', 'paused', 'deleted'])

export const SourceItem = z.object({
  ...sourceKey.fields,
  ...sourceById.fields,
  sourceId: id('src'),
  userId: id('usr'),
  name: z.string().min(1).max(100),
  provider: z.enum(providers),
  /** A sealed JSON list of the secrets in force. */
  signingSecret: sealed.optional(),
  signingAlgorithm: z.string().min(1).max(64).optional(),
  /** Options of the algorithm, such as the header of a signature. */
  signingOptions: json('object', 16_384).optional(),
  /** Where the provider's own id of an event is, if not where its provider usually puts it. */
  dedup: json('object', 1_024).optional(),
  status: lifecycle,
  eventCount: count,
  lastEventAt: isoTime.optional(),
  createdAt: isoTime,
  /** Up to which receipt time (ms) events are in `eventCount` and in the user's usage. */
  countedUntil: milliseconds.optional(),
  /** How many were counted shortly before that, from one time up to the next: more came late. */
  countedParts: z.array(z.object({ from: milliseconds, events: count })).optional(),
  /** Raised with each connection, so that of two made at once neither overlooks the other. */
  connectionsRev: count.optional(),
})
export type Source = z.infer<typeof SourceItem>
