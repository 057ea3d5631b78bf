/** Recovers a table as it was at a moment into a table of its own, which appears when it is complete. */
import { setTimeout } from 'node:timers/promises'
import { detailsOf } from '@strongroom/engine/operations/describe'
import { isNamed } from '@strongroom/kit/db-errors'
import { Failure } from '@strongroom/kit/errors'
import type { Table } from '@strongroom/kit/table'
import type { Output } from '../command.ts'
import type { EmbeddedTables } from './embedded-tables.ts'
import { recoveredName } from './moment.ts'

const POLL_MS = 100
const POLLS_PER_PROGRESS = 20

export interface RecoveredTable {
  table: Table
  /** Without the prefix. */
  recovered: string
  items: number
}

/** Begins the recovery, or finds one that was interrupted: the engine continues it by itself. */
export async function beginRecovery(
  { engine, prefix }: EmbeddedTables,
  table: Table,
  at: number,
  { mayReuse, overwrite }: { mayReuse: boolean; overwrite: boolean },
): Promise<string> {
  const recovered = recoveredName(table.name, at)
  const target = prefix + recovered
  const existing = engine.storage.table(target)
  if (existing && !existing.restoring && !mayReuse) {
    if (!overwrite) {
      throw new Failure(
        'failed',
        `${recovered} exists: put it in place with "strongroom recover use ${recovered}", remove it with "strongroom recover remove ${recovered}", or pass --overwrite`,
      )
    }
    await engine.deleteTable({ TableName: target })
  } else if (existing) return recovered
  try {
    await engine.restoreTableToPointInTime({
      SourceTableName: prefix + table.name,
      TargetTableName: target,
      RestoreDateTime: at / 1000,
    })
  } catch (error) {
    throw await explain(engine, prefix + table.name, table, at, error)
  }
  return recovered
}

async function explain(
  engine: EmbeddedTables['engine'],
  name: string,
  table: Table,
  at: number,
  error: unknown,
): Promise<unknown> {
  if (isNamed(error, 'TableNotFoundException')) {
    const problem = `The store has no table ${name}: check STRONGROOM_DATA and STRONGROOM_TABLE_PREFIX`
    return new Failure('failed', problem, { cause: error })
  }
  if (isNamed(error, 'PointInTimeRecoveryUnavailableException')) {
    const why = table.pointInTimeRecovery
      ? `STRONGROOM_RECOVERY_DAYS was 0 when the server started: restore a backup, and set it for the future`
      : 'its items are not to be kept after they are deleted'
    const problem = `Earlier states of ${table.name} are not kept: ${why}`
    return new Failure('failed', problem, { cause: error })
  }
  if (!isNamed(error, 'InvalidRestoreTimeException')) return error
  const { ContinuousBackupsDescription } = await engine.describeContinuousBackups({
    TableName: name,
  })
  const earliest =
    ContinuousBackupsDescription?.PointInTimeRecoveryDescription?.EarliestRestorableDateTime
  const text = (ms: number) => new Date(ms).toISOString()
  const problem = `${table.name} can be recovered to moments from ${text(Math.ceil(Number(earliest) * 1000))} until now, not to ${text(at)}: choose a later moment, or restore a backup`
  return new Failure('failed', problem, { cause: error })
}

/** Resolves when all items are there; undefined if it was stopped. */
export async function untilRecovered(
  { engine, prefix }: EmbeddedTables,
  recovered: string,
  { stop, output }: { stop: AbortSignal; output: Pick<Output, 'progress'> },
): Promise<number | undefined> {
  for (let poll = 1; ; poll++) {
    const found = engine.storage.table(prefix + recovered)
    if (!found) {
      throw new Failure(
        'failed',
        `The recovery to ${recovered} was abandoned because its source is damaged: restore a backup`,
      )
    }
    if (!found.restoring) return engine.storage.count(found)
    if (stop.aborted) return undefined
    if (poll % POLLS_PER_PROGRESS === 0)
      output.progress(`${recovered}: ${engine.storage.count(found)} items so far`)
    await setTimeout(POLL_MS)
  }
}

/** Whether the present table is what an earlier run has put in place. */
export function isRecoveredTo({ engine, prefix }: EmbeddedTables, table: Table, at: number) {
  const present = engine.storage.table(prefix + table.name)
  const restoredAt = present && detailsOf(present).restored?.RestoreDateTime
  return restoredAt !== undefined && Math.round(restoredAt * 1000) === at
}
