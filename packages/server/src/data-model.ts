/** What the server and its services store, as data. */
import { dataModel as ferryhook } from '@strongroom/ferryhook/data-model'
import { dataModel as formBridge } from '@strongroom/form-bridge/data-model'
import { dataModel as keyStore } from '@strongroom/key-store/data-model'
import { AuditHeadItem, AuditLogItem } from '@strongroom/kit/audit-log'
import type { DataModel } from '@strongroom/kit/data-model'
import { operationsTable } from '@strongroom/kit/operations-table'
import { AdminGuardItem, OperatorItem } from '@strongroom/kit/operators'
import { SecretItem } from '@strongroom/kit/secret-versions'
import { serverTable as table } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { dataModel as sealed } from '@strongroom/sealed/data-model'
import { dataModel as twoKey } from '@strongroom/two-key/data-model'
import { OwnKeyItem } from './kms/embedded.ts'
import { BootstrapItem } from './operators/bootstrap.ts'
import { MasterKeyItem, StateItem, VersionItem } from './kms/items.ts'

const server: DataModel = {
  service: 'Server',
  entities: [
    {
      name: 'Operator',
      table,
      keys: { PK: 'OPERATOR#{name}', SK: 'TOKEN' },
      schema: OperatorItem,
    },
    {
      name: 'Guard of the last admin',
      table,
      keys: { PK: 'OPERATORS', SK: 'ADMINS' },
      schema: AdminGuardItem,
    },
    {
      name: 'Bootstrap code',
      table,
      keys: { PK: 'BOOTSTRAP', SK: 'CODE' },
      schema: BootstrapItem,
      lifetime: 'until it is used or replaced; valid for 30 minutes',
    },
    {
      name: 'Entry of the audit log',
      table: operationsTable,
      keys: { PK: 'AUDIT#{month}', SK: '{seq}' },
      schema: AuditLogItem,
      lifetime: '365 days',
    },
    {
      name: 'Last entry of the audit log of a month',
      table: operationsTable,
      keys: { PK: 'AUDIT#{month}', SK: 'HEAD' },
      schema: AuditHeadItem,
      lifetime: '365 days',
    },
    {
      name: 'Version of a server secret',
      table,
      keys: { PK: 'SECRET#{name}', SK: 'V#{version}' },
      schema: SecretItem,
      lifetime: 'until acceptedUntil, which a newer version sets',
    },
    {
      name: 'Key of the embedded KMS',
      table,
      keys: { PK: 'KMSKEY#{id}', SK: 'STATE' },
      schema: StateItem,
    },
    {
      name: 'Backing key of the embedded KMS',
      table,
      keys: { PK: 'KMSKEY#{id}', SK: 'V#{version}' },
      schema: VersionItem,
    },
    {
      name: 'Own key of the server in the embedded KMS',
      table,
      keys: { PK: 'KMSKEY', SK: 'OWN' },
      schema: OwnKeyItem,
    },
    {
      name: 'Master key that the keys of the embedded KMS belong to',
      table,
      keys: { PK: 'KMSKEY', SK: 'MASTER' },
      schema: MasterKeyItem,
    },
  ],
  functions: [
    {
      name: 'operators',
      summary: 'Knows operators by their tokens',
      allows: [{ table, actions: ['GetItem', 'UpdateItem'], leadingKeys: ['OPERATOR#*'] }],
    },
    {
      name: 'audit-log',
      summary: 'Records what operators change',
      allows: [
        {
          table: operationsTable,
          actions: ['GetItem', 'PutItem', 'Query'],
          leadingKeys: ['AUDIT#*'],
        },
      ],
    },
    {
      name: 'server-secrets',
      summary: 'Makes and reads server secrets',
      allows: [{ table, actions: ['Query', 'PutItem', 'DeleteItem'], leadingKeys: ['SECRET#*'] }],
    },
  ],
}

export const dataModels: readonly DataModel[] = [
  server,
  sealed,
  ferryhook,
  formBridge,
  keyStore,
  twoKey,
]

/** All tables of the product: the server's own and those of its services. */
export const everyTable: readonly Table[] = [
  ...new Set(dataModels.flatMap(({ entities }) => entities.map((entity) => entity.table))),
]
