/** What Two-key stores: verified triples for five minutes, bot tokens sealed, events seen. */
import { defineTable } from '@strongroom/kit/table'
import * as z from 'zod'

export const cacheTable = defineTable({
  name: 'slack-existence-check-cache',
  description:
    'Team, user and channel that Slack has confirmed to exist together, for five minutes',
  partitionKey: { name: 'cache_key', type: 'S' },
  ttl: 'ttl',
  pointInTimeRecovery: false,
})

export const tokensTable = defineTable({
  name: 'slack-workspace-tokens',
  description: 'The bot token of each workspace, sealed by the key store',
  partitionKey: { name: 'team_id', type: 'S' },
  pointInTimeRecovery: true,
})

export const dedupeTable = defineTable({
  name: 'slack-event-dedupe',
  description: 'Events that are being handed over or have been, so that each is handed over once',
  partitionKey: { name: 'event_id', type: 'S' },
  ttl: 'ttl',
  pointInTimeRecovery: false,
})

export const CACHE_SECONDS = 300
export const CLAIM_SECONDS = 30
export const CONFIRMED_SECONDS = 24 * 60 * 60

const EpochSecond = z.number().int().positive()

// Slack's ids are opaque capitals and digits, so that neither "#" nor ":" can be in one.
const app = '(?:[a-z0-9-]{1,32}:)?'
const slackId = '[A-Z0-9]{2,32}'
const cacheKey = new RegExp(`^${app}${slackId}#${slackId}#${slackId}$`)

export const CacheItem = z.object({
  cache_key: z.string().regex(cacheKey),
  ttl: EpochSecond,
  verified_at: EpochSecond.optional(),
  /** Where a deployment asks for it: who can write the table cannot make up an entry. */
  mac: z
    .custom<Uint8Array>((value) => value instanceof Uint8Array && value.length === 32)
    .optional(),
})
export type CacheItem = z.infer<typeof CacheItem>

export const TokenItem = z.object({
  team_id: z.string().regex(new RegExp(`^${app}${slackId}$`)),
  /** Never the token itself: the key store's envelope around it. */
  bot_token: z.custom<Uint8Array>((value) => value instanceof Uint8Array && value.length > 0),
  installation_timestamp: EpochSecond,
})
export type TokenItem = z.infer<typeof TokenItem>

/** Claimed by one worker for a moment, or processed. */
export const DedupeItem = z
  .object({
    event_id: z.string().regex(new RegExp(`^${app}[A-Za-z0-9._-]{1,64}$`)),
    ttl: EpochSecond,
    claimed_by: z
      .string()
      .regex(/^[A-Za-z0-9_-]{16,64}$/)
      .optional(),
    processed_at: EpochSecond.optional(),
  })
  .refine((item) => (item.claimed_by === undefined) !== (item.processed_at === undefined), {
    path: ['processed_at'],
  })
export type DedupeItem = z.infer<typeof DedupeItem>
