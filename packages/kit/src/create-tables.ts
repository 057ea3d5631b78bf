/** Makes declared tables on a store, and leaves those that exist as they are. */
import { setTimeout } from 'node:timers/promises'
import type { Db } from './db.ts'
import { isNamed } from './db-errors.ts'
import { createTableInput, type Table } from './table.ts'

export interface CreateTablesOptions {
  /** Waits between two looks at a table that is being made; tests need not wait. */
  pause?: (ms: number) => Promise<unknown>
  /**
   * How far back tables that ask for it can be recovered, 0 for not at all. Unless given, whoever
   * runs the store decides: recovery is switched on where it is off.
   */
  recoveryDays?: number | undefined
  /** Told as each table is done, for progress. */
  onTable?: (table: Table, outcome: 'created' | 'exists') => void
}

export async function createTables(
  db: Db,
  tables: readonly Table[],
  { pause = setTimeout, recoveryDays, onTable }: CreateTablesOptions = {},
): Promise<void> {
  for (const table of tables) {
    const created = await createIfAbsent(db, table)
    await untilActive(db, table, { pause })
    await unlessRaced(() => setTimeToLive(db, table), pause)
    await unlessRaced(() => setRecovery(db, table, recoveryDays), pause)
    onTable?.(table, created ? 'created' : 'exists')
  }
}

async function createIfAbsent(db: Db, table: Table): Promise<boolean> {
  try {
    await db.createTable(createTableInput(table))
    return true
  } catch (error) {
    if (isNamed(error, 'ResourceInUseException')) return false
    throw error
  }
}

/** Returns when a table that is being made, with its indexes, can be used. */
export async function untilActive(
  db: Db,
  table: Table,
  { pause = setTimeout }: Pick<CreateTablesOptions, 'pause'> = {},
): Promise<void> {
  for (let waited = 0; waited < 120; waited++) {
    const { Table: description } = await db.describeTable({ TableName: table.name })
    const indexes = description?.GlobalSecondaryIndexes ?? []
    const building = indexes.some(({ IndexStatus }) => IndexStatus && IndexStatus !== 'ACTIVE')
    if (description?.TableStatus === 'ACTIVE' && !building) return
    await pause(1000)
  }
  throw new Error(`Table ${table.name} did not become active within two minutes: look at the store`)
}

async function setTimeToLive(db: Db, { name, ttl }: Table) {
  if (!ttl) return
  const { TimeToLiveDescription } = await db.describeTimeToLive({ TableName: name })
  if (TimeToLiveDescription?.TimeToLiveStatus?.startsWith('ENABL')) return
  await db.updateTimeToLive({
    TableName: name,
    TimeToLiveSpecification: { AttributeName: ttl, Enabled: true },
  })
}

async function setRecovery(db: Db, { name, pointInTimeRecovery }: Table, days?: number) {
  if (!pointInTimeRecovery) return
  const isWanted = days !== 0
  try {
    const { ContinuousBackupsDescription: now } = await db.describeContinuousBackups({
      TableName: name,
    })
    const { PointInTimeRecoveryStatus: status, RecoveryPeriodInDays: period } =
      now?.PointInTimeRecoveryDescription ?? {}
    const isOn = status === 'ENABLED'
    if (isOn === isWanted && (!isOn || days === undefined || days === period)) return
    await db.updateContinuousBackups({
      TableName: name,
      PointInTimeRecoverySpecification: {
        PointInTimeRecoveryEnabled: isWanted,
        ...(isWanted && days !== undefined && { RecoveryPeriodInDays: days }),
      },
    })
  } catch (error) {
    // DynamoDB Local and most other endpoints do not have it; `verify` says so.
    if (!isNamed(error, 'UnknownOperationException')) throw error
  }
}

const ATTEMPTS = 10

/** Another process may be setting the same at this moment: then what is missing is looked at again. */
async function unlessRaced(set: () => Promise<void>, pause: (ms: number) => Promise<unknown>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await set()
    } catch (error) {
      const raced = isNamed(error, 'ResourceInUseException', 'ValidationException')
      if (!raced || attempt === ATTEMPTS) throw error
      await pause(10 * attempt)
    }
  }
}
