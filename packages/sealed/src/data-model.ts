import type { DataModel } from '@strongroom/kit/data-model'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import { ApiTokenItem, ApiTokenRateItem } from './api-tokens/item.ts'
import { FiguresItem } from './figures/item.ts'
import { SecretItem, TombstoneItem } from './secrets/item.ts'
import { secretsTable as table } from './tables.ts'

export const dataModel: DataModel = {
  service: 'Sealed',
  entities: [
    {
      name: 'Secret',
      table,
      keys: { id: '{id}' },
      schema: SecretItem,
      lifetime: 'until expiresAt, 15 minutes to 90 days; the last view shortens it to 30 seconds',
    },
    {
      name: 'Tombstone of an ended secret',
      table,
      keys: { id: '{id}' },
      schema: TombstoneItem,
      lifetime:
        'until createdAt + 300 of its secret, or 30 seconds after the last view if that is later; in a request until requestUntil, with a receipt until receiptUntil',
    },
    {
      name: 'API token of Sealed',
      table: serverTable,
      keys: { PK: 'SEALEDTOKEN#{name}', SK: 'TOKEN' },
      schema: ApiTokenItem,
      lifetime: 'until it is revoked; refused from expiresAt on',
    },
    {
      name: 'Hourly counter of an API token of Sealed',
      table: serverTable,
      keys: { PK: 'SEALEDTOKEN#{name}', SK: 'RATE' },
      schema: ApiTokenRateItem,
      lifetime: 'until the token is revoked',
    },
    {
      name: 'Figures of an hour',
      table: operationsTable,
      keys: { PK: 'SEALED#FIGURES', SK: '{hour}' },
      schema: FiguresItem,
      lifetime: '90 days',
    },
  ],
  functions: [
    {
      name: 'create-secret',
      summary: 'Stores a new secret',
      allows: [{ table, actions: ['PutItem'] }],
    },
    {
      name: 'fill-request',
      summary: 'Stores the secret of a request',
      allows: [{ table, actions: ['PutItem', 'GetItem'] }],
    },
    {
      name: 'api-tokens',
      summary: 'Verifies API tokens and counts their uses',
      allows: [
        {
          table: serverTable,
          actions: ['GetItem', 'UpdateItem'],
          leadingKeys: ['SEALEDTOKEN#*'],
        },
      ],
    },
    {
      name: 'reveal-secret',
      summary: 'Uses views, counts wrong proofs, accepts acknowledgements',
      allows: [{ table, actions: ['GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
    {
      name: 'burn-secret',
      summary: 'Destroys a secret for its creator',
      allows: [{ table, actions: ['GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
    {
      name: 'secret-status',
      summary: 'Returns the receipt to the creator',
      allows: [{ table, actions: ['GetItem'] }],
    },
    {
      name: 'manage-api-tokens',
      summary: 'Creates, lists and revokes API tokens',
      allows: [
        {
          table: serverTable,
          actions: ['PutItem', 'DeleteItem'],
          leadingKeys: ['SEALEDTOKEN#*'],
        },
        { table: serverTable, actions: ['Scan'] },
      ],
    },
    {
      name: 'count-figures',
      summary: 'Adds up how many secrets were created, opened, expired and refused',
      allows: [
        { table: operationsTable, actions: ['UpdateItem'], leadingKeys: ['SEALED#FIGURES'] },
      ],
    },
    {
      name: 'read-figures',
      summary: 'Shows how many secrets were created, opened, expired and refused',
      allows: [{ table: operationsTable, actions: ['Query'], leadingKeys: ['SEALED#FIGURES'] }],
    },
    {
      name: 'sweep-secrets',
      summary: 'Ends secrets that have expired or were used up',
      allows: [{ table, actions: ['Scan', 'GetItem', 'UpdateItem', 'DeleteItem'] }],
    },
  ],
}
