import type { DataModel } from '@strongroom/kit/data-model'
import { CacheItem, cacheTable, DedupeItem, dedupeTable, TokenItem, tokensTable } from './table.ts'

export const dataModel: DataModel = {
  service: 'Two-key',
  entities: [
    {
      name: 'ExistenceCheckCacheEntry',
      table: cacheTable,
      keys: {
        cache_key:
          '{team_id}#{user_id}#{channel_id}, of every app but the first {app}:{team_id}#{user_id}#{channel_id}',
      },
      schema: CacheItem,
      lifetime: '300 seconds',
    },
    {
      name: 'Workspace token',
      table: tokensTable,
      keys: { team_id: '{team_id}, of every app but the first {app}:{team_id}' },
      schema: TokenItem,
      lifetime: 'until the app is uninstalled',
    },
    {
      name: 'Event',
      table: dedupeTable,
      keys: { event_id: '{event_id}, of every app but the first {app}:{event_id}' },
      schema: DedupeItem,
      lifetime: '30 seconds while it is handed over, 24 hours after',
    },
  ],
  patterns: [
    {
      name: 'Read the cache before asking Slack',
      servedBy: 'existence-cache.ts: get',
      table: cacheTable,
      key: 'GetItem cache_key = {team_id}#{user_id}#{channel_id}, then ttl > now',
    },
    {
      name: 'Write the cache after Slack has confirmed',
      servedBy: 'existence-cache.ts: put',
      table: cacheTable,
      key: 'PutItem cache_key = {team_id}#{user_id}#{channel_id}',
    },
    {
      name: 'Get the token of a workspace',
      servedBy: 'workspace-tokens.ts: get',
      table: tokensTable,
      key: 'GetItem team_id = {team_id}',
    },
    {
      name: 'Keep the token of a workspace',
      servedBy: 'workspace-tokens.ts: put',
      table: tokensTable,
      key: 'PutItem team_id = {team_id}',
    },
    {
      name: 'Forget the token of a workspace',
      servedBy: 'workspace-tokens.ts: delete',
      table: tokensTable,
      key: 'DeleteItem team_id = {team_id}',
    },
    {
      name: 'Claim an event',
      servedBy: 'event-dedupe.ts: claim',
      table: dedupeTable,
      key: 'PutItem event_id = {event_id} if absent or ttl <= now',
    },
    {
      name: 'Confirm an event',
      servedBy: 'event-dedupe.ts: confirm',
      table: dedupeTable,
      key: 'PutItem event_id = {event_id}',
    },
    {
      name: 'Release an event',
      servedBy: 'event-dedupe.ts: release',
      table: dedupeTable,
      key: 'DeleteItem event_id = {event_id} if claimed_by is the claimant',
    },
  ],
  functions: [
    {
      name: 'slack-event-handler',
      summary: 'Checks requests of Slack and hands them over',
      allows: [
        { table: cacheTable, actions: ['GetItem', 'PutItem'] },
        { table: tokensTable, actions: ['GetItem'] },
        { table: dedupeTable, actions: ['PutItem', 'DeleteItem'] },
      ],
    },
    {
      name: 'slack-installations',
      summary: 'Keeps the tokens of workspaces for operators',
      allows: [{ table: tokensTable, actions: ['GetItem', 'PutItem', 'DeleteItem'] }],
    },
  ],
  departures: [
    {
      what: 'Ids are checked by one pattern, other apps prefix their keys, and an entry may carry a MAC',
      decision: '0038-two-key-cache-keys.md',
    },
    {
      what: 'Bot tokens are stored sealed, in a table of their own',
      decision: '0039-two-key-sealed-tokens.md',
    },
    {
      what: 'Events are claimed, then confirmed, in a table of their own',
      decision: '0040-two-key-claimed-events.md',
    },
  ],
}
