import type { DataModel } from '@strongroom/kit/data-model'
import { serverTable } from '@strongroom/kit/server-table'
import { KnownItem } from './existence/known-store.ts'
import { AppItem, FirstAppItem } from './service/app-item.ts'
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
    {
      name: 'Slack app',
      table: serverTable,
      keys: { PK: 'SLACKAPP', SK: '{app}' },
      schema: AppItem,
    },
    {
      name: 'First Slack app',
      table: serverTable,
      keys: { PK: 'SLACKAPP#FIRST', SK: 'APP' },
      schema: FirstAppItem,
    },
    {
      name: 'Known ids',
      table: serverTable,
      keys: { PK: 'KNOWN#{app}#{team_id}', SK: 'CHUNK#{number}' },
      schema: KnownItem,
      lifetime: 'each id until its chunk is written, 24 hours after it was verified last or later',
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
      servedBy: 'workspace-tokens.ts: delete, deleteThis',
      table: tokensTable,
      key: 'DeleteItem team_id = {team_id}, of a dead one if bot_token is still that',
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
    {
      name: 'List the tokens of an app, for people',
      servedBy: 'tokens/list-tokens.ts: listTokens',
      table: tokensTable,
      key: 'Scan',
    },
    {
      name: 'Find a Slack app',
      servedBy: 'service/apps.ts: get',
      table: serverTable,
      key: 'GetItem PK = SLACKAPP, SK = {app}',
    },
    {
      name: 'List the Slack apps',
      servedBy: 'service/apps.ts: list',
      table: serverTable,
      key: 'PK = SLACKAPP',
    },
    {
      name: 'Add a Slack app',
      servedBy: 'service/apps.ts: add',
      table: serverTable,
      key: 'TransactWriteItems: Put PK = SLACKAPP, SK = {app} if absent, Put PK = SLACKAPP#FIRST if absent',
    },
    {
      name: 'Change a Slack app',
      servedBy: 'service/apps.ts: change, rotate, remove',
      table: serverTable,
      key: 'PK = SLACKAPP, SK = {app}, if revision is as expected',
    },
    {
      name: 'Read the ids that were verified in the last day',
      servedBy: 'existence/known-store.ts: load',
      table: serverTable,
      key: 'PK = KNOWN#{app}#{team_id}',
    },
    {
      name: 'Save ids that were verified',
      servedBy: 'existence/known-store.ts: save',
      table: serverTable,
      key: 'PutItem PK = KNOWN#{app}#{team_id}, SK = CHUNK#{number} if revision is as expected',
    },
  ],
  functions: [
    {
      name: 'slack-event-handler',
      summary: 'Checks requests of Slack and hands them over',
      allows: [
        { table: cacheTable, actions: ['GetItem', 'PutItem'] },
        // A token that Slack says is dead is forgotten.
        { table: tokensTable, actions: ['GetItem', 'DeleteItem'] },
        { table: dedupeTable, actions: ['PutItem', 'DeleteItem'] },
        {
          table: serverTable,
          actions: ['GetItem', 'PutItem', 'Query'],
          leadingKeys: ['KNOWN#*'],
        },
        { table: serverTable, actions: ['GetItem'], leadingKeys: ['SLACKAPP'] },
      ],
    },
    {
      name: 'slack-installations',
      summary: 'Keeps apps and the tokens of workspaces for operators',
      allows: [
        { table: tokensTable, actions: ['GetItem', 'PutItem', 'DeleteItem', 'Scan'] },
        {
          table: serverTable,
          actions: ['GetItem', 'PutItem', 'DeleteItem', 'Query'],
          leadingKeys: ['SLACKAPP', 'SLACKAPP#FIRST'],
        },
      ],
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
    {
      what: 'The 300 seconds begin with the oldest answer of Slack that a triple rests on',
      decision: '0075-two-key-oldest-answer.md',
    },
  ],
}
