/** The table of the server itself: operators, server secrets and KMS keys. */
import { defineTable } from './table.ts'

export const serverTable = defineTable({
  name: 'strongroom-server',
  description: 'Operators, secrets and KMS keys of the server itself',
  partitionKey: { name: 'PK', type: 'S' },
  sortKey: { name: 'SK', type: 'S' },
  pointInTimeRecovery: true,
})
