/** What the server and its services store, as data. */
import { dataModel as ferryhook } from '@strongroom/ferryhook/data-model'
import { dataModel as formBridge } from '@strongroom/form-bridge/data-model'
import { dataModel as keyStore } from '@strongroom/key-store/data-model'
import { AuditHeadItem, AuditLogItem } from '@strongroom/kit/audit-item'
import type { DataModel, EntityModel } from '@strongroom/kit/data-model'
import { JobChunkItem, JobItem, RunningJobItem } from '@strongroom/kit/jobs/item'
import { operationsTable } from '@strongroom/kit/operations-table'
import { AdminGuardItem, OperatorItem } from '@strongroom/kit/operator-item'
import { OperatorSessionItem } from '@strongroom/kit/operator-sessions'
import { SecondFactorItem } from '@strongroom/kit/second-factor/item'
import { SecretItem } from '@strongroom/kit/secret-versions'
import { serverTable as table } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { dataModel as sealed } from '@strongroom/sealed/data-model'
import { dataModel as twoKey } from '@strongroom/two-key/data-model'
import { StoreCopyItem } from './copies/item.ts'
import { StoreVersionItem } from './store-version/item.ts'
import { FiguresItem } from './figures/item.ts'
import { BootstrapItem } from './operators/bootstrap.ts'
import { SignInItem } from './sessions/sign-ins.ts'
import { LastBackupItem } from './status/backup.ts'
import { MasterKeyItem, StateItem, VersionItem } from './kms/items.ts'
import { LocalKeyItem } from './kms/local.ts'
import { OwnKeyItem } from './kms/own-key.ts'

const entities: readonly EntityModel[] = [
  {
    name: 'Operator',
    table,
    keys: { PK: 'OPERATOR#{name}', SK: 'TOKEN' },
    schema: OperatorItem,
  },
  {
    name: 'Session of an operator',
    table,
    keys: { PK: 'OPERATOR#{name}', SK: 'SESSION#{sessionId}' },
    schema: OperatorSessionItem,
    lifetime: '12 hours, or until it is ended; removed at the next sign-in',
  },
  {
    name: 'Sign-in of an operator that waits for a second factor',
    table,
    keys: { PK: 'OPERATOR#{name}', SK: 'SIGNIN#{signInId}' },
    schema: SignInItem,
    lifetime: 'until it is completed; valid for 5 minutes, removed at the next sign-in',
  },
  {
    name: 'Second factors of an operator',
    table,
    keys: { PK: 'OPERATOR#{name}', SK: 'SECOND_FACTOR' },
    schema: SecondFactorItem,
    lifetime: 'until they are removed, reset, or the operator is removed',
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
    name: 'Figures of a process in one hour',
    table: operationsTable,
    keys: { PK: 'FIGURES', SK: '{hour}#{process}' },
    schema: FiguresItem,
    lifetime: '25 hours',
  },
  {
    name: 'Last backup',
    table: operationsTable,
    keys: { PK: 'BACKUP', SK: 'LAST' },
    schema: LastBackupItem,
  },
  {
    name: 'Job',
    table: operationsTable,
    keys: { PK: 'JOBS', SK: '{jobId}' },
    schema: JobItem,
    lifetime: 'until 30 days after it ended',
  },
  {
    name: 'Running job of a kind',
    table: operationsTable,
    keys: { PK: 'JOBS#RUNNING', SK: '{kind}' },
    schema: RunningJobItem,
    lifetime: 'until the job ends',
  },
  {
    name: 'Part of the file of a job',
    table: operationsTable,
    keys: { PK: 'JOB#{jobId}', SK: 'CHUNK#{number}' },
    schema: JobChunkItem,
    lifetime: '7 days',
  },
  {
    name: 'Version of a server secret',
    table,
    keys: { PK: 'SECRET#{name}', SK: 'V#{version}' },
    schema: SecretItem,
    lifetime: 'until acceptedUntil, which a newer version sets',
  },
  {
    name: 'Copy that is being made into this store',
    table,
    keys: { PK: 'COPY', SK: 'TARGET' },
    schema: StoreCopyItem,
    lifetime: 'until a server or worker starts on the complete copy',
  },
  {
    name: 'Version of the store',
    table,
    keys: { PK: 'STORE', SK: 'VERSION' },
    schema: StoreVersionItem,
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
    name: 'Key of the embedded KMS that a store at an endpoint depends on',
    table,
    keys: { PK: 'KMSKEY', SK: 'LOCAL' },
    schema: LocalKeyItem,
  },
  {
    name: 'Master key that the keys of the embedded KMS belong to',
    table,
    keys: { PK: 'KMSKEY', SK: 'MASTER' },
    schema: MasterKeyItem,
  },
]

const services: readonly DataModel[] = [sealed, ferryhook, formBridge, keyStore, twoKey]

/** All tables of the product: the server's own and those of its services. */
export const everyTable: readonly Table[] = [
  ...new Set(
    [...entities, ...services.flatMap((model) => model.entities)].map((entity) => entity.table),
  ),
]

export const serverDataModel: DataModel = {
  service: 'Server',
  entities,
  functions: [
    {
      name: 'operators',
      summary: 'Knows operators by their tokens and sessions',
      allows: [{ table, actions: ['GetItem', 'UpdateItem'], leadingKeys: ['OPERATOR#*'] }],
    },
    {
      name: 'manage-operators',
      summary: 'Manages operators, their sessions and second factors',
      allows: [
        {
          table,
          actions: [
            'GetItem',
            'Query',
            'PutItem',
            'UpdateItem',
            'DeleteItem',
            'ConditionCheckItem',
          ],
          leadingKeys: ['OPERATOR#*'],
        },
        { table, actions: ['GetItem', 'PutItem'], leadingKeys: ['OPERATORS'] },
        { table, actions: ['DeleteItem'], leadingKeys: ['BOOTSTRAP'] },
        // Lists operators and server secrets.
        { table, actions: ['Scan'] },
      ],
      // Secrets of authenticator apps.
      kms: ['Encrypt', 'Decrypt'],
    },
    {
      name: 'create-bootstrap-code',
      summary: 'Creates the code of the first admin',
      allows: [{ table, actions: ['PutItem'], leadingKeys: ['BOOTSTRAP'] }],
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
      name: 'read-figures',
      summary: 'Reads the figures of processes',
      allows: [{ table: operationsTable, actions: ['Query'], leadingKeys: ['FIGURES'] }],
    },
    {
      name: 'write-figures',
      summary: 'Writes the figures of a process',
      allows: [{ table: operationsTable, actions: ['PutItem', 'Query'], leadingKeys: ['FIGURES'] }],
    },
    {
      name: 'last-backup',
      summary: 'Shows when the last backup was made',
      allows: [{ table: operationsTable, actions: ['GetItem'], leadingKeys: ['BACKUP'] }],
    },
    {
      name: 'manage-jobs',
      summary: 'Starts, shows and cancels jobs',
      allows: [
        {
          table: operationsTable,
          actions: ['GetItem', 'PutItem', 'UpdateItem', 'Query'],
          leadingKeys: ['JOB#*', 'JOBS', 'JOBS#RUNNING'],
        },
      ],
    },
    {
      name: 'run-jobs',
      summary: 'Runs jobs, in addition to what their services need',
      allows: [
        { table: operationsTable, actions: ['Query', 'DeleteItem'], leadingKeys: ['JOBS#RUNNING'] },
        { table: operationsTable, actions: ['UpdateItem'], leadingKeys: ['JOBS'] },
        // The output of a job.
        { table: operationsTable, actions: ['PutItem'], leadingKeys: ['JOB#*'] },
      ],
    },
    {
      name: 'store-copy',
      summary: 'Refuses to start on an unfinished copy of a store',
      allows: [{ table, actions: ['GetItem', 'DeleteItem'], leadingKeys: ['COPY'] }],
    },
    {
      name: 'store-version',
      summary: 'Refuses to start on a store that a newer version uses',
      allows: [{ table, actions: ['GetItem', 'PutItem'], leadingKeys: ['STORE'] }],
    },
    {
      name: 'server-secrets',
      summary: 'Makes, reads and rotates server secrets',
      allows: [
        {
          table,
          actions: ['Query', 'PutItem', 'UpdateItem', 'DeleteItem'],
          leadingKeys: ['SECRET#*'],
        },
      ],
      kms: ['Encrypt', 'Decrypt'],
    },
    {
      name: 'status',
      summary: 'Shows the size of tables and whether the KMS key can be used',
      allows: [
        ...everyTable.map((each) => ({ table: each, actions: ['DescribeTable'] as const })),
        { table, actions: ['DescribeContinuousBackups'] },
      ],
      kms: ['DescribeKey'],
    },
  ],
}

export const dataModels: readonly DataModel[] = [serverDataModel, ...services]
