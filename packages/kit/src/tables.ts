/** Creates declared tables in a store, and compares existing ones with their declarations. */
import { setTimeout } from 'node:timers/promises'
import type { Db, TableDescription } from './db.ts'
import { isNamed } from './db-errors.ts'
import { createTableInput, type Table } from './table.ts'

export interface CreateTablesOptions {
  /** Waits between two polls; injected so that tests need not wait. */
  pause?: (ms: number) => Promise<unknown>
  /**
   * The recovery period of tables with point-in-time recovery; 0 turns it off. Unless given, it is
   * turned on where it is off, and its period stays as it is.
   */
  recoveryDays?: number | undefined
  /**
   * Whether new tables get the streams that they declare. Not on the embedded store: nothing there
   * reads them, and each change would be stored twice.
   */
  withStreams?: boolean | undefined
  /** Called after each table, for progress. */
  onTable?: (table: Table, outcome: 'created' | 'exists') => void
}

/**
 * Creates the tables that are missing, and leaves the others unchanged except for TTL, recovery and
 * secure deletion.
 */
export async function createTables(
  db: Db,
  tables: readonly Table[],
  { pause = setTimeout, recoveryDays, withStreams = false, onTable }: CreateTablesOptions = {},
): Promise<void> {
  for (const table of tables) {
    const { stream: _stream, ...withoutStream } = table
    const created = await createIfAbsent(db, withStreams ? table : withoutStream)
    await untilActive(db, table, { pause })
    await unlessRaced(() => setSecureDelete(db, table, pause), pause)
    await unlessRaced(() => setTimeToLive(db, table), pause)
    await unlessRaced(() => setRecovery(db, table, recoveryDays), pause)
    onTable?.(table, created ? 'created' : 'exists')
  }
}

async function createIfAbsent(db: Db, table: Table): Promise<boolean> {
  try {
    // Other stores than the embedded one do not know the option.
    const isSecure = table.secureDelete && db.updateTable
    const option = isSecure ? { SecureDeleteEnabled: true as const } : {}
    await db.createTable({ ...createTableInput(table), ...option })
    return true
  } catch (error) {
    if (isNamed(error, 'ResourceInUseException')) return false
    throw error
  }
}

const MAX_ACTIVATION_MS = 120_000

/** Resolves when a table and its indexes can be used. */
export async function untilActive(
  db: Db,
  table: Table,
  { pause = setTimeout }: Pick<CreateTablesOptions, 'pause'> = {},
): Promise<void> {
  for (let waited = 0; waited < MAX_ACTIVATION_MS;) {
    const { Table: description } = await db.describeTable({ TableName: table.name })
    const indexes = description?.GlobalSecondaryIndexes ?? []
    const building = indexes.some(({ IndexStatus }) => IndexStatus && IndexStatus !== 'ACTIVE')
    if (description?.TableStatus === 'ACTIVE' && !building) return
    // Most changes take milliseconds on the embedded store, and seconds on AWS.
    const wait = Math.min(1000, 10 + waited)
    await pause(wait)
    waited += wait
  }
  throw new Error(`Table ${table.name} did not become active within two minutes. Check the store.`)
}

/** Resolves when the items that the table had before are encrypted. */
async function setSecureDelete(
  db: Db,
  table: Table,
  pause: (ms: number) => Promise<unknown>,
): Promise<void> {
  if (!table.secureDelete || !db.updateTable) return
  const { Table: description } = await db.describeTable({ TableName: table.name })
  if (description?.SecureDeleteEnabled) return
  await db.updateTable({ TableName: table.name, SecureDeleteEnabled: true })
  await untilActive(db, table, { pause })
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
    // DynamoDB Local and most other endpoints do not support it; `verifyTables` does not require it.
    if (!isNamed(error, 'UnknownOperationException')) throw error
  }
}

const MAX_ATTEMPTS = 10

/** Another process may be changing the same table: then the current state is read again. */
async function unlessRaced(set: () => Promise<void>, pause: (ms: number) => Promise<unknown>) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await set()
    } catch (error) {
      const isRaced = isNamed(error, 'ResourceInUseException', 'ValidationException')
      if (!isRaced || attempt === MAX_ATTEMPTS) throw error
      await pause(10 * attempt)
    }
  }
}

export interface TableCheck {
  table: string
  /** What differs, as phrases after "Table x:"; empty if the table is as declared. */
  differences: string[]
}

/** Compares tables with their declarations. Additional attributes and indexes are not reported. */
export async function verifyTables(db: Db, tables: readonly Table[]): Promise<TableCheck[]> {
  return Promise.all(
    tables.map(async (table) => ({
      table: table.name,
      differences: await findDifferences(db, table),
    })),
  )
}

async function findDifferences(db: Db, table: Table): Promise<string[]> {
  const description = await describe(db, table)
  if (!description) return ['it does not exist: run "strongroom tables create"']
  return [
    ...shapeDifferences(table, description),
    ...(await timeToLiveDifferences(db, table)),
    ...(await recoveryDifferences(db, table)),
  ]
}

/** The names of the tables that do not exist. */
export async function findMissingTables(db: Db, tables: readonly Table[]): Promise<string[]> {
  const found = await Promise.all(tables.map((table) => describe(db, table)))
  return tables.filter((_, at) => found[at] === undefined).map(({ name }) => name)
}

async function describe(db: Db, { name }: Table): Promise<TableDescription | undefined> {
  try {
    return (await db.describeTable({ TableName: name })).Table
  } catch (error) {
    if (isNamed(error, 'ResourceNotFoundException')) return undefined
    throw error
  }
}

function shapeDifferences(table: Table, found: TableDescription): string[] {
  const declared = createTableInput(table)
  const types = new Map(
    found.AttributeDefinitions?.map(({ AttributeName, AttributeType }) => [
      AttributeName,
      AttributeType,
    ]),
  )
  const differences: string[] = []
  const compare = (what: string, wanted: string, is: string) => {
    if (wanted !== is) differences.push(`${what} is ${is}, not ${wanted}`)
  }
  if (found.TableStatus !== 'ACTIVE')
    differences.push(`its status is ${found.TableStatus}, not ACTIVE`)
  compare('its key', keyText(declared.KeySchema), keyText(found.KeySchema))
  compare(
    'its billing mode',
    declared.BillingMode,
    found.BillingModeSummary?.BillingMode ?? 'PROVISIONED',
  )
  for (const { AttributeName, AttributeType } of declared.AttributeDefinitions) {
    compare(`the type of ${AttributeName}`, AttributeType, types.get(AttributeName) ?? 'unknown')
  }
  for (const { IndexName, KeySchema, Projection } of declared.GlobalSecondaryIndexes ?? []) {
    const index = found.GlobalSecondaryIndexes?.find((each) => each.IndexName === IndexName)
    if (!index) {
      differences.push(`index ${IndexName} is missing`)
      continue
    }
    compare(`the key of index ${IndexName}`, keyText(KeySchema), keyText(index.KeySchema))
    compare(
      `the projection of index ${IndexName}`,
      projectionText(Projection),
      projectionText(index.Projection),
    )
  }
  return differences
}

async function timeToLiveDifferences(db: Db, { name, ttl }: Table): Promise<string[]> {
  const { TimeToLiveDescription: found } = await db.describeTimeToLive({ TableName: name })
  const attribute = found?.TimeToLiveStatus?.startsWith('ENABL') ? found.AttributeName : undefined
  if (attribute === ttl) return []
  return [`time to live is on ${attribute ?? 'no attribute'}, not on ${ttl ?? 'no attribute'}`]
}

async function recoveryDifferences(db: Db, table: Table): Promise<string[]> {
  const enabled = await hasRecovery(db, table)
  if (enabled === undefined || enabled === table.pointInTimeRecovery) return []
  return [`point-in-time recovery is ${enabled ? 'on, not off' : 'off, not on'}`]
}

/** Undefined for a store without this feature, such as DynamoDB Local. */
async function hasRecovery(db: Db, { name }: Table): Promise<boolean | undefined> {
  try {
    const { ContinuousBackupsDescription } = await db.describeContinuousBackups({ TableName: name })
    const recovery = ContinuousBackupsDescription?.PointInTimeRecoveryDescription
    return recovery?.PointInTimeRecoveryStatus === 'ENABLED'
  } catch (error) {
    if (isNamed(error, 'UnknownOperationException')) return undefined
    throw error
  }
}

function keyText(schema: { AttributeName?: string; KeyType?: string }[] = []): string {
  return schema.map(({ AttributeName, KeyType }) => `${AttributeName} (${KeyType})`).join(', ')
}

function projectionText(
  projection: { ProjectionType?: string; NonKeyAttributes?: string[] } = {},
): string {
  const { ProjectionType = 'none', NonKeyAttributes = [] } = projection
  return [ProjectionType, ...NonKeyAttributes.toSorted()].join(' ')
}
