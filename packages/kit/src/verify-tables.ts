/** Compares the tables of a store with their declarations. */
import type { Db, TableDescription } from './db.ts'
import { isNamed } from './db-errors.ts'
import { createTableInput, type Table } from './table.ts'

export interface TableCheck {
  table: string
  /** What differs, as sentences; empty if the table is as declared. */
  differences: string[]
}

/** Further attributes and indexes of a table are its operator's business and no difference. */
export async function verifyTables(db: Db, tables: readonly Table[]): Promise<TableCheck[]> {
  return Promise.all(
    tables.map(async (table) => ({ table: table.name, differences: await differences(db, table) })),
  )
}

async function differences(db: Db, table: Table): Promise<string[]> {
  const description = await describe(db, table)
  if (!description) return ['it does not exist: run "strongroom tables create"']
  return [
    ...shapeDifferences(table, description),
    ...(await timeToLiveDifferences(db, table)),
    ...(await recoveryDifferences(db, table)),
  ]
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
  const told: string[] = []
  const compare = (what: string, wanted: string, is: string) => {
    if (wanted !== is) told.push(`${what} is ${is}, not ${wanted}`)
  }
  if (found.TableStatus !== 'ACTIVE') told.push(`its status is ${found.TableStatus}, not ACTIVE`)
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
      told.push(`index ${IndexName} is missing`)
      continue
    }
    compare(`the key of index ${IndexName}`, keyText(KeySchema), keyText(index.KeySchema))
    compare(
      `the projection of index ${IndexName}`,
      projectionText(Projection),
      projectionText(index.Projection),
    )
  }
  return told
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

/** Undefined on a store without this feature, such as DynamoDB Local. */
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
