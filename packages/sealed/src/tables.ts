import { defineTable } from '@strongroom/kit/table'

export const secretsTable = defineTable({
  name: 'sealed-secrets',
  description: 'Secrets that the server cannot read, until they are viewed, burned or expired',
  partitionKey: { name: 'id', type: 'S' },
  ttl: 'expiresAt',
  // A backup would keep secrets that were destroyed.
  pointInTimeRecovery: false,
  secureDelete: true,
  tags: { Project: 'sealed-fyi', Environment: 'production' },
  logicalId: 'SecretsTable',
})
