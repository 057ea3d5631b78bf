/** Two-key's tables: verified triples for five minutes, encrypted bot tokens, processed events. */
import { defineTable } from '@strongroom/kit/table'

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
  description: 'The bot token of each workspace, encrypted by the key store',
  partitionKey: { name: 'team_id', type: 'S' },
  pointInTimeRecovery: true,
})

export const dedupeTable = defineTable({
  name: 'slack-event-dedupe',
  description: 'Events in delivery or delivered, so that each is delivered to the app once',
  partitionKey: { name: 'event_id', type: 'S' },
  ttl: 'ttl',
  pointInTimeRecovery: false,
})
