/** A Slack app as stored, in the server's own table. */
import { z } from '@hono/zod-openapi'
import { APP_NAME } from '../slack-ids.ts'

const channelPolicy = z.enum(['strict', 'if-visible', 'skip'])

export const AppPolicy = z.strictObject({
  /** What an unknown channel means, by kind of request. */
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
  /** A Ferryhook source stores every request and returns no response of its own. */
  kind: z.enum(['app', 'ferryhook']),
})
export type Upstream = z.infer<typeof Upstream>

export const APPS = 'SLACKAPP'

export function appKey(name: string) {
  return { PK: APPS, SK: name } as const
}

export const AppItem = z.object({
  PK: z.literal(APPS),
  /** The name of the app. */
  SK: z.string().regex(APP_NAME),
  /** The app's id at Slack (A…). */
  appId: z.string().exactOptional(),
  /** The keys of the first app in Two-key's tables have no prefix. */
  isFirst: z.boolean(),
  /** Encrypted by the key store. */
  signingSecrets: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0),
  upstream: Upstream,
  policy: AppPolicy,
  /** The app's client at Slack, with which workspaces install it. */
  clientId: z.string().exactOptional(),
  /** Encrypted by the key store. */
  clientSecret: z
    .custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0)
    .exactOptional(),
  /** The bot scopes of an installation besides those that Two-key needs. */
  scopes: z.array(z.string()).exactOptional(),
  createdAt: z.number().int(),
  revision: z.number().int().positive(),
})
export type AppItem = z.infer<typeof AppItem>

/** The name of the first app. It stays after the app is removed. */
export const FirstAppItem = z.object({
  PK: z.literal('SLACKAPP#FIRST'),
  SK: z.literal('APP'),
  name: z.string(),
})
