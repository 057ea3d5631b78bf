/**
 * RestoreTableFromBackup and RestoreTableToPointInTime create a table, which is CREATING until all items
 * are copied.
 */
import type {
  RestoreFromBackupInput,
  RestoreOutput,
  RestoreToPointInTimeInput,
} from '../db-backups.ts'
import { DynamoError, tableAlreadyExists } from '../errors.ts'
import type { LogRecord, Storage, TableRecord } from '../storage/storage.ts'
import { boolean, string, structure, tableName, timestamp } from '../validation/shapes.ts'
import { backupArn, existingBackup } from './backup-description.ts'
import { backupArnShape, refusalOf } from './backups.ts'
import { backedUpTable, earliestOf, recoveryOf } from './continuous-backups.ts'
import { describeTable, tableArn } from './describe.ts'
import type { Operation } from './operation.ts'
import { invalidRequest, overrideShapes, restoredTable } from './restore-overrides.ts'

export const restoreTableFromBackup: Operation<RestoreFromBackupInput, RestoreOutput> = {
  name: 'RestoreTableFromBackup',
  input: structure('RestoreTableFromBackupInput', {
    ...overrideShapes,
    'BackupArn!': backupArnShape,
  }),

  async run(context, input) {
    const { storage, clock } = context
    const { BackupArn: arn } = input
    const backup = existingBackup(storage, arn)
    refuseExisting(storage, input.TargetTableName)
    const summary = {
      SourceBackupArn: backupArn(context, backup),
      SourceTableArn: tableArn(context, backup.table.name),
      RestoreDateTime: backup.createdAt / 1000,
      RestoreInProgress: true,
    }
    const wanted = restoredTable(backup.table, input, summary, clock.now())
    const table = await storage.backups.restore(backup, wanted, refusalOf(arn, 'another table'))
    return { TableDescription: describeTable(context, table) }
  },
}

export const restoreTableToPointInTime: Operation<RestoreToPointInTimeInput, RestoreOutput> = {
  name: 'RestoreTableToPointInTime',
  input: structure('RestoreTableToPointInTimeInput', {
    ...overrideShapes,
    SourceTableArn: string({ min: 1, max: 1024 }),
    SourceTableName: tableName,
    UseLatestRestorableTime: boolean,
    RestoreDateTime: timestamp,
  }),

  async run(context, input) {
    const { storage, clock } = context
    const { SourceTableName: name, SourceTableArn: arn, RestoreDateTime: given } = input
    if (!name === !arn) {
      throw invalidRequest('Must provide exactly one of: sourceTableArn, sourceTableName')
    }
    if (!input.UseLatestRestorableTime === (given === undefined || given === null)) {
      throw invalidRequest(
        'Either one of RestoreDateTime or UseLatestRestorableTime must be specified, but not both',
      )
    }
    const source = backedUpTable(storage, name ?? arn ?? '')
    const now = clock.now()
    const time = given === undefined || given === null ? now : Math.round(given * 1000)
    const logThatReaches = (table: TableRecord) => {
      const log = enabledRecovery(table)
      checkTime(time, earliestOf(log, now), now)
      return log
    }
    logThatReaches(source)
    refuseExisting(storage, input.TargetTableName)
    const summary = {
      SourceTableArn: tableArn(context, source.name),
      RestoreDateTime: time / 1000,
      RestoreInProgress: true,
    }
    const wanted = restoredTable(source, input, summary, now)
    const table = await storage.backups.restoreAt(source, time, wanted, logThatReaches)
    return { TableDescription: describeTable(context, table) }
  },
}

function enabledRecovery(table: TableRecord): LogRecord {
  const log = recoveryOf(table)
  if (log) return log
  throw new DynamoError(
    'PointInTimeRecoveryUnavailableException',
    `Point in time recovery is not enabled for table '${table.name}'`,
  )
}

function checkTime(time: number, earliest: number, latest: number): void {
  if (time >= earliest && time <= latest) return
  const text = (ms: number) => new Date(ms).toISOString()
  // Outside the range of JavaScript dates.
  const wanted = Math.abs(time) <= 8.64e15 ? text(time) : String(time / 1000)
  throw new DynamoError(
    'InvalidRestoreTimeException',
    `RestoreDateTime ${wanted} must be within EarliestRestorableDateTime ${text(earliest)} and LatestRestorableDateTime ${text(latest)}`,
  )
}

function refuseExisting(storage: Storage, name: string): void {
  if (storage.table(name)) throw tableAlreadyExists(name)
}
