import type { ServiceFunction } from '@strongroom/kit/data-model'
import { eventsTable, mainTable } from './tables.ts'

export const functions: readonly ServiceFunction[] = [
  {
    name: 'ingest',
    summary: 'Receives webhooks and stores them',
    allows: [
      // The source by its id, its owner for the plan, and whether the webhook for alerts failed.
      { table: mainTable, actions: ['GetItem', 'UpdateItem'], indexes: ['GSI3'] },
      { table: eventsTable, actions: ['GetItem', 'PutItem', 'UpdateItem'] },
    ],
  },
  {
    name: 'worker',
    summary: 'Routes, delivers and retries events, and meters usage',
    allows: [
      {
        table: mainTable,
        // Deletes what is left of deleted accounts.
        actions: ['GetItem', 'Query', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'],
      },
      {
        table: eventsTable,
        actions: [
          'GetItem',
          'BatchGetItem',
          'Query',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'ConditionCheckItem',
        ],
        indexes: ['GSI1'],
      },
    ],
  },
  {
    name: 'api',
    summary: 'Serves accounts, sources, connections, events and replays',
    allows: [
      {
        table: mainTable,
        actions: [
          'GetItem',
          'Query',
          'Scan',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'ConditionCheckItem',
        ],
        indexes: ['GSI1', 'GSI2', 'GSI3'],
      },
      {
        table: eventsTable,
        // A replay checks that no worker has claimed the event, and listings look that up in batches.
        actions: [
          'GetItem',
          'BatchGetItem',
          'Query',
          'PutItem',
          'UpdateItem',
          'DeleteItem',
          'ConditionCheckItem',
        ],
        indexes: ['GSI1'],
      },
    ],
  },
  {
    name: 'live',
    summary: 'Streams new events',
    allows: [
      // The caller by API key, whose last use it stores, or by session.
      { table: mainTable, actions: ['GetItem', 'UpdateItem'], indexes: ['GSI2'] },
      { table: eventsTable, actions: ['GetItem', 'BatchGetItem', 'Query'] },
      { table: eventsTable, actions: ['UpdateItem'], leadingKeys: ['RATE#*'] },
    ],
  },
  {
    name: 'status',
    summary: 'Shows operators what is overdue and which connections fail',
    allows: [
      { table: mainTable, actions: ['Scan'] },
      { table: eventsTable, actions: ['GetItem', 'Query'] },
    ],
  },
]
