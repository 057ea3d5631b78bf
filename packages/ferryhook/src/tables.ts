/** The two tables, as the specification declares them. Each folder's `item.ts` has the items. */
import { defineTable } from '@strongroom/kit/table'

const key = (name: string) => ({ name, type: 'S' }) as const

const tags = { Project: 'ferryhook', Environment: 'production' }

export const mainTable = defineTable({
  name: 'ferryhook-main',
  description: 'Users, sources, connections and API keys',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  indexes: {
    GSI1: { partitionKey: key('GSI1PK'), sortKey: key('GSI1SK'), projection: 'ALL' },
    GSI2: { partitionKey: key('GSI2PK'), sortKey: key('GSI2SK'), projection: 'ALL' },
    GSI3: { partitionKey: key('GSI3PK'), sortKey: key('GSI3SK'), projection: 'ALL' },
  },
  pointInTimeRecovery: true,
  tags,
})

export const eventsTable = defineTable({
  name: 'ferryhook-events',
  description: 'Events, deliveries, attempts, tasks and everything else that expires',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  indexes: {
    // Keys only: an index with all attributes would be rewritten by each change of status.
    GSI1: { partitionKey: key('GSI1PK'), sortKey: key('GSI1SK'), projection: 'KEYS_ONLY' },
  },
  ttl: 'expiresAt',
  pointInTimeRecovery: true,
  // On Lambda, new tasks start the worker.
  stream: 'NEW_IMAGE',
  tags,
})

export const tables = [mainTable, eventsTable] as const
