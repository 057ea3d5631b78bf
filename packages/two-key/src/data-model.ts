import type { DataModel } from '@strongroom/kit/data-model'
import { serverTable } from '@strongroom/kit/server-table'
import { functions } from './iam.ts'
import { KnownIdsItem } from './existence/known-id-store.ts'
import { AppItem, FirstAppItem } from './apps/item.ts'
import { cacheTable, dedupeTable, tokensTable } from './tables.ts'
import { TripleItem } from './existence/triple-store.ts'
import { EventItem } from './requests/event-store.ts'
import { TokenItem } from './tokens/store.ts'

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
      schema: TripleItem,
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
      schema: EventItem,
      lifetime: '30 seconds while it is delivered, 24 hours after',
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
      schema: KnownIdsItem,
      lifetime:
        'each id for at least 24 hours after it was last verified, until its chunk is written again',
    },
  ],
  functions,
}
