/**
 * UpdateContinuousBackups and DescribeContinuousBackups. While point-in-time recovery is enabled, the
 * item that each write replaces is kept for the recovery period.
 */
import type {
  DescribeContinuousBackupsOutput,
  TableInput,
  UpdateContinuousBackupsInput,
} from '../db.ts'
import { tableNotFound, validationError } from '../errors.ts'
import type { LogRecord, NewLog, Storage, TableRecord } from '../storage/storage.ts'
import { nameOf } from '../validation/names.ts'
import { boolean, integer, structure, tableName } from '../validation/shapes.ts'
import { detailsOf } from './describe.ts'
import type { Operation } from './operation.ts'
import { checkSecureDelete } from './secure-delete.ts'

const MAX_RECOVERY_DAYS = 35
const DAY_MS = 24 * 60 * 60 * 1000

export const describeContinuousBackups: Operation<TableInput, DescribeContinuousBackupsOutput> = {
  name: 'DescribeContinuousBackups',
  input: structure('DescribeContinuousBackupsInput', { 'TableName!': tableName }),

  run({ storage, clock }, input) {
    return describeRecovery(backedUpTable(storage, input.TableName), clock.now())
  },
}

export const updateContinuousBackups: Operation<
  UpdateContinuousBackupsInput,
  DescribeContinuousBackupsOutput
> = {
  name: 'UpdateContinuousBackups',
  input: structure('UpdateContinuousBackupsInput', {
    'TableName!': tableName,
    'PointInTimeRecoverySpecification!': structure('PointInTimeRecoverySpecification', {
      'PointInTimeRecoveryEnabled!': boolean,
      RecoveryPeriodInDays: integer({ min: 1, max: MAX_RECOVERY_DAYS }),
    }),
  }),

  async run({ storage, clock }, input) {
    const { PointInTimeRecoveryEnabled: enabled, RecoveryPeriodInDays: days } =
      input.PointInTimeRecoverySpecification
    if (!enabled && days) {
      throw validationError(
        'Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery.',
      )
    }
    const table = backedUpTable(storage, input.TableName)
    const others = (table.logs ?? []).filter(({ kind }) => kind !== 'recovery')
    const logs = enabled ? [...others, recoveryLog(table, days, clock.now())] : others
    if (detailsOf(table).secureDelete) checkSecureDelete(logs)
    return describeRecovery(await storage.replaceTable({ ...table, logs }), clock.now())
  },
}

function recoveryLog(
  table: TableRecord,
  days: number | null | undefined,
  now: number,
): LogRecord | NewLog {
  const current = recoveryOf(table)
  const keepMs = (days ?? MAX_RECOVERY_DAYS) * DAY_MS
  if (!current) return { kind: 'recovery', view: 'OLD_IMAGE', keepMs }
  // Extending the period does not bring back what a shorter one has removed.
  return { ...current, keepMs, createdAt: earliestOf(current, now) }
}

/** These operations have their own exception for a missing table. */
export function backedUpTable(storage: Storage, tableNameOrArn: string): TableRecord {
  const name = nameOf(tableNameOrArn)
  const table = storage.table(name)
  if (!table || table.restoring) throw tableNotFound(name)
  return table
}

export function recoveryOf({ logs }: TableRecord): LogRecord | undefined {
  return logs?.find(({ kind }) => kind === 'recovery')
}

/** The earliest time to which a table can be restored. */
export function earliestOf({ createdAt, keepMs }: LogRecord, now: number): number {
  return Math.max(createdAt, now - keepMs)
}

function describeRecovery(table: TableRecord, now: number): DescribeContinuousBackupsOutput {
  const recovery = recoveryOf(table)
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription:
        recovery === undefined
          ? { PointInTimeRecoveryStatus: 'DISABLED' }
          : {
              PointInTimeRecoveryStatus: 'ENABLED',
              RecoveryPeriodInDays: recovery.keepMs / DAY_MS,
              EarliestRestorableDateTime: earliestOf(recovery, now) / 1000,
              LatestRestorableDateTime: now / 1000,
            },
    },
  }
}
