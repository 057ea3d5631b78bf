/**
 * CreateBackup, DescribeBackup, ListBackups and DeleteBackup. A backup contains the table as of the
 * request; its items are copied in the background. It outlives its table.
 */
import type {
  BackupDetails,
  BackupInput,
  BackupOutput,
  CreateBackupInput,
  ListBackupsInput,
  ListBackupsOutput,
} from '../db-backups.ts'
import { DynamoError, validationError } from '../errors.ts'
import type { BackupRecord } from '../storage/backups/backup-records.ts'
import type { Refusal } from '../storage/backups/backups.ts'
import { nameOf } from '../validation/names.ts'
import {
  integer,
  newTableName,
  oneOf,
  string,
  structure,
  tableName,
  timestamp,
} from '../validation/shapes.ts'
import {
  backupArn,
  backupNotFound,
  describeBackup as describe,
  describeDetails,
  existingBackup,
  readBackupArn,
} from './backup-description.ts'
import { backedUpTable } from './continuous-backups.ts'
import { detailsOf, tableArn } from './describe.ts'
import type { Operation } from './operation.ts'

const MAX_BACKUPS = 100
export const backupArnShape = string({ min: 37, max: 1024 })

export const createBackup: Operation<CreateBackupInput, { BackupDetails?: BackupDetails }> = {
  name: 'CreateBackup',
  input: structure('CreateBackupInput', {
    'TableName!': tableName,
    'BackupName!': newTableName,
  }),

  async run(context, input) {
    const table = backedUpTable(context.storage, input.TableName)
    const backup = await context.storage.backups.create(input.BackupName, table)
    return { BackupDetails: describeDetails(context, backup) }
  },
}

export const describeBackup: Operation<BackupInput, BackupOutput> = {
  name: 'DescribeBackup',
  input: structure('DescribeBackupInput', { 'BackupArn!': backupArnShape }),

  run(context, input) {
    return describe(context, existingBackup(context.storage, input.BackupArn))
  },
}

export const deleteBackup: Operation<BackupInput, BackupOutput> = {
  name: 'DeleteBackup',
  input: structure('DeleteBackupInput', { 'BackupArn!': backupArnShape }),

  async run(context, input) {
    const { BackupArn: arn } = input
    const { backups } = context.storage
    const backup = existingBackup(context.storage, arn)
    if (backup.expiresAt !== undefined) {
      throw validationError(
        `Invalid Request: User is not allowed to delete the system backup with arn ${arn}. It will automatically expire on ${new Date(backup.expiresAt).toISOString()}`,
      )
    }
    await backups.remove(backup, refusalOf(arn, 'table'))
    const { BackupDescription } = describe(context, backup)
    const details: BackupDetails = {
      ...BackupDescription?.BackupDetails,
      BackupStatus: 'DELETED',
    }
    return { BackupDescription: { ...BackupDescription, BackupDetails: details } }
  },
}

export function refusalOf(arn: string, restored: 'table' | 'another table'): Refusal {
  const inUse = (message: string) => new DynamoError('BackupInUseException', `${message}: ${arn}`)
  return (state) => {
    if (state === 'gone') return backupNotFound(arn)
    if (state === 'being created') return inUse('Backup is being created')
    return inUse(`Backup is being used to restore ${restored}`)
  }
}

export const listBackups: Operation<ListBackupsInput, ListBackupsOutput> = {
  name: 'ListBackups',
  input: structure('ListBackupsInput', {
    TableName: tableName,
    Limit: integer({ min: 1, max: MAX_BACKUPS }),
    TimeRangeLowerBound: timestamp,
    TimeRangeUpperBound: timestamp,
    ExclusiveStartBackupArn: backupArnShape,
    BackupType: oneOf('USER', 'SYSTEM', 'AWS_BACKUP', 'ALL'),
  }),

  run(context, input) {
    const rest = context.storage.backups.all().filter(backupFilter(input)).toSorted(byAge)
    const page = rest.slice(0, input.Limit ?? MAX_BACKUPS)
    const last = page.at(-1)
    return {
      BackupSummaries: page.map((backup) => ({
        TableName: backup.table.name,
        TableId: detailsOf(backup.table).tableId,
        TableArn: tableArn(context, backup.table.name),
        ...describeDetails(context, backup),
      })),
      ...(last &&
        page.length < rest.length && { LastEvaluatedBackupArn: backupArn(context, last) }),
    }
  },
}

function backupFilter(input: ListBackupsInput): (backup: BackupRecord) => boolean {
  const { TimeRangeLowerBound: lower, TimeRangeUpperBound: upper } = input
  const [from, to] = [(lower ?? 0) * 1000, upper ? upper * 1000 : Infinity]
  if (from > to) {
    throw validationError(
      'One or more parameter values were invalid: Time range lower bound must be less than or equal to upper bound',
    )
  }
  const name = input.TableName ? nameOf(input.TableName) : undefined
  const type = input.BackupType ?? 'USER'
  const start = input.ExclusiveStartBackupArn
    ? readBackupArn(input.ExclusiveStartBackupArn)
    : undefined
  return (backup) =>
    (name === undefined || backup.table.name === name) &&
    (type === 'ALL' || backup.type === type) &&
    backup.createdAt >= Math.round(from) &&
    backup.createdAt < Math.round(to) &&
    (start === undefined || byAge(backup, start) > 0)
}

interface Aged {
  createdAt: number
  id: number
}

function byAge(left: Aged, right: Aged): number {
  return left.createdAt - right.createdAt || left.id - right.id
}
