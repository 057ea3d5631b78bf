/** An app of Slack as it is stored, in the server's own table. */
import { z } from '@hono/zod-openapi'

const channelPolicy = z.enum(['strict', 'if-visible', 'skip'])

export const AppPolicy = z.strictObject({
  /** What an unknown channel means, for each kind of request. */
  channels: z
    .strictObject({
      event: channelPolicy.exactOptional(),
      command: channelPolicy.exactOptional(),
      action: channelPolicy.exactOptional(),
      options: channelPolicy.exactOptional(),
      shortcut: channelPolicy.exactOptional(),
      view: channelPolicy.exactOptional(),
    })
    .exactOptional(),
  deletedUser: z.enum(['deny', 'allow']).exactOptional(),
  archivedChannel: z.enum(['deny', 'allow']).exactOptional(),
  onUndecidable: z.enum(['retry', 'reject']).exactOptional(),
  onMissingToken: z.enum(['deny', 'skip']).exactOptional(),
  rejectStatus: z.union([z.literal(403), z.literal(200)]).exactOptional(),
})
export type AppPolicy = z.infer<typeof AppPolicy>

export const Upstream = z.strictObject({
  url: z.string().max(2_048),
  /** A Ferryhook source takes everything for good and answers nobody. */
  kind: z.enum(['app', 'ferryhook']),
})
export type Upstream = z.infer<typeof Upstream>

export const APPS = 'SLACKAPP'

export const AppItem = z.object({
  PK: z.literal(APPS),
  /** The name of the app. */
  SK: z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/),
  /** Slack's id of the app (A…). */
  appId: z.string().exactOptional(),
  /** Whether it is the first one, whose keys in the tables of Two-key have no prefix. */
  isFirst: z.boolean(),
  /** Sealed. */
  signingSecrets: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0),
  upstream: Upstream,
  policy: AppPolicy,
  createdAt: z.number().int(),
  revision: z.number().int().positive(),
})
export type AppItem = z.infer<typeof AppItem>

/** Which app was the first: for ever, also when it is gone. */
export const FirstAppItem = z.object({
  PK: z.literal('SLACKAPP#FIRST'),
  SK: z.literal('APP'),
  name: z.string(),
})
