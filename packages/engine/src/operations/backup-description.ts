/** The description of a backup, and its ARN: table name, time in milliseconds, id. */
import type { BackupDetails, BackupOutput } from '../db-backups.ts'
import { DynamoError, validationError } from '../errors.ts'
import type { BackupRecord } from '../storage/backups/backup-records.ts'
import type { IndexRecord, Storage } from '../storage/storage.ts'
import { describeKeys, describeProjection, detailsOf, tableArn } from './describe.ts'
import type { Context } from './operation.ts'

const BACKUP_ARN = /^arn:[^:]+:dynamodb:[^:]*:[^:]*:table\/([^/]+)\/backup\/(\d{14})-([0-9a-f]{8})$/

export function backupArn(context: Context, { id, createdAt, table }: BackupRecord): string {
  const time = String(createdAt).padStart(14, '0')
  return `${tableArn(context, table.name)}/backup/${time}-${id.toString(16).padStart(8, '0')}`
}

/** The position of a backup in order of creation. */
export function readBackupArn(arn: string): { createdAt: number; id: number } {
  const [, , time = '', id = ''] = BACKUP_ARN.exec(arn) ?? []
  if (id === '') throw validationError('Invalid Backup ARN')
  return { createdAt: Number(time), id: Number.parseInt(id, 16) }
}

export function existingBackup(storage: Storage, arn: string): BackupRecord {
  const { createdAt, id } = readBackupArn(arn)
  const backup = storage.backups.find(id)
  if (!backup || backup.createdAt !== createdAt || !arn.includes(`table/${backup.table.name}/`)) {
    throw backupNotFound(arn)
  }
  return backup
}

export function backupNotFound(arn: string): DynamoError {
  return new DynamoError('BackupNotFoundException', `Backup not found: ${arn}`)
}

export function describeDetails(context: Context, backup: BackupRecord): BackupDetails {
  const { name, bytes, status, type, createdAt, expiresAt } = backup
  return {
    BackupArn: backupArn(context, backup),
    BackupName: name,
    BackupSizeBytes: bytes,
    BackupStatus: status,
    BackupType: type,
    BackupCreationDateTime: createdAt / 1000,
    ...(expiresAt !== undefined && { BackupExpiryDateTime: expiresAt / 1000 }),
  }
}

export function describeBackup(context: Context, backup: BackupRecord): BackupOutput {
  const { table, items, bytes } = backup
  const { tableId, throughput, billingMode } = detailsOf(table)
  const stream = table.logs?.find(({ kind }) => kind === 'stream')
  const ofKind = (kind: IndexRecord['kind']) => table.indexes.filter((each) => each.kind === kind)
  const [global, local] = [ofKind('global'), ofKind('local')]
  return {
    BackupDescription: {
      BackupDetails: describeDetails(context, backup),
      SourceTableDetails: {
        TableName: table.name,
        TableId: tableId,
        TableArn: tableArn(context, table.name),
        TableSizeBytes: bytes,
        KeySchema: describeKeys(table.keys),
        TableCreationDateTime: table.createdAt / 1000,
        ProvisionedThroughput: throughput ?? { ReadCapacityUnits: 0, WriteCapacityUnits: 0 },
        ItemCount: items,
        BillingMode: billingMode,
      },
      SourceTableFeatureDetails: {
        ...(local.length > 0 && { LocalSecondaryIndexes: local.map(describeIndex) }),
        ...(global.length > 0 && {
          GlobalSecondaryIndexes: global.map((index) => ({
            ...describeIndex(index),
            ...index.details,
          })),
        }),
        ...(stream && { StreamDescription: { StreamEnabled: true, StreamViewType: stream.view } }),
        ...(table.ttl && {
          TimeToLiveDescription: {
            TimeToLiveStatus: 'ENABLED',
            AttributeName: table.ttl.attribute,
          },
        }),
      },
    },
  }
}

function describeIndex({ name, keys, projection }: IndexRecord) {
  return {
    IndexName: name,
    KeySchema: describeKeys(keys),
    Projection: describeProjection(projection),
  }
}
