/** The table of what operators and the server did, which expires: the audit log, jobs and figures. */
import { defineTable } from './table.ts'

export const operationsTable = defineTable({
  name: 'strongroom-operations',
  description: 'The audit log of operators, jobs, and figures of the server',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  ttl: 'expiresAt',
  pointInTimeRecovery: true,
})
