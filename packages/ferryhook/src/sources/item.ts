/** A source: the URL that a provider sends its webhooks to. */
import * as z from 'zod'
import { CredentialHeaderNames } from '../events/credential-headers.ts'
import { keyTemplate } from '../storage/key-template.ts'
import { count, id, isoTime, json, milliseconds, sealed } from '../storage/schemas.ts'
import { eventMethods, providers } from './values.ts'

export const sourceKey = keyTemplate({ PK: 'USER#{userId}', SK: 'SRC#{sourceId}' })
export const sourceById = keyTemplate({ GSI3PK: 'SRCID#{sourceId}', GSI3SK: 'SOURCE' })

/** For sources and connections. Deleted ones are retained, so that their history stays readable. */
export const resourceStatus = z.enum(['active', 'paused', 'deleted'])

const defaultMethods: readonly string[] = ['POST', 'PUT']

export const SourceItem = z.object({
  ...sourceKey.fields,
  ...sourceById.fields,
  sourceId: id('src'),
  userId: id('usr'),
  name: z.string().min(1).max(100),
  provider: z.enum(providers),
  /** The active secrets: a JSON list, sealed. */
  signingSecret: sealed.optional(),
  signingAlgorithm: z.string().min(1).max(64).optional(),
  /** Options of the algorithm, such as the name of the signature header. */
  signingOptions: json('object', 16_384).optional(),
  /** Where the provider's event id is, if not in the provider's usual place. */
  dedup: json('object', 1_024).optional(),
  /** Where the type of an event is, if not in the provider's usual place. */
  eventType: json('object', 1_024).optional(),
  /** Headers that are credentials besides those of the rules; in lower case. */
  credentialHeaders: CredentialHeaderNames.optional(),
  /** Methods that events are accepted by; POST and PUT if absent. */
  methods: z.array(z.enum(eventMethods)).min(1).max(eventMethods.length).optional(),
  status: resourceStatus,
  eventCount: count,
  lastEventAt: isoTime.optional(),
  createdAt: isoTime,
  /** Events received before this time (ms) are in `eventCount` and in the user's usage. */
  countedUntil: milliseconds.optional(),
  /** Recent counts by interval, to find events that were stored late. */
  countedParts: z.array(z.object({ from: milliseconds, events: count })).optional(),
  /** Incremented with each new connection, so that concurrent creations cannot exceed the plan. */
  connectionsRev: count.optional(),
})
export type Source = z.infer<typeof SourceItem>

export function methodsOf({ methods }: Pick<Source, 'methods'>): readonly string[] {
  return methods ?? defaultMethods
}
