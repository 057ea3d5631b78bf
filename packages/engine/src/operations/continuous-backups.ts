/**
 * UpdateContinuousBackups and DescribeContinuousBackups: the setting is recorded and shown. Recovery
 * to a point in time is left out; backups are `backup.ts`.
 */
import type {
  DescribeContinuousBackupsOutput,
  TableInput,
  UpdateContinuousBackupsInput,
} from '../db.ts'
import { resourceNotFound } from '../errors.ts'
import type { Storage, TableRecord } from '../storage/store.ts'
import { nameOf } from '../validation/names.ts'
import { boolean, integer, structure, tableName } from '../validation/shapes.ts'
import { detailsOf, withDetails } from './describe.ts'
import type { Operation } from './operation.ts'

const RECOVERY_PERIOD_DAYS = 35

export const describeContinuousBackups: Operation<TableInput, DescribeContinuousBackupsOutput> = {
  name: 'DescribeContinuousBackups',
  input: structure('DescribeContinuousBackupsInput', { 'TableName!': tableName }),

  run({ storage, clock }, input) {
    return described(backedUpTable(storage, input.TableName), clock.now())
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
      RecoveryPeriodInDays: integer({ min: 1, max: RECOVERY_PERIOD_DAYS }),
    }),
  }),

  async run({ storage, clock }, input) {
    const table = backedUpTable(storage, input.TableName)
    const enabled = input.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled
    const { recoverableSince, ...rest } = detailsOf(table)
    const details = enabled ? { ...rest, recoverableSince: recoverableSince ?? clock.now() } : rest
    const changed = await storage.replaceTable({ ...withDetails(table, {}), details })
    return described(changed, clock.now())
  },
}

/** These two operations have an exception name of their own for a missing table. */
function backedUpTable(storage: Storage, tableNameOrArn: string): TableRecord {
  const name = nameOf(tableNameOrArn)
  const table = storage.table(name)
  if (table) return table
  const error = resourceNotFound(`Table not found: ${name}`)
  error.name = 'TableNotFoundException'
  throw error
}

function described(table: TableRecord, now: number): DescribeContinuousBackupsOutput {
  const { recoverableSince } = detailsOf(table)
  return {
    ContinuousBackupsDescription: {
      ContinuousBackupsStatus: 'ENABLED',
      PointInTimeRecoveryDescription:
        recoverableSince === undefined
          ? { PointInTimeRecoveryStatus: 'DISABLED' }
          : {
              PointInTimeRecoveryStatus: 'ENABLED',
              RecoveryPeriodInDays: RECOVERY_PERIOD_DAYS,
              EarliestRestorableDateTime: recoverableSince / 1000,
              LatestRestorableDateTime: now / 1000,
            },
    },
  }
}
