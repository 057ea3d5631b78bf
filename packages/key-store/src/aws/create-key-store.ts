/** Creates the table of a key store, or checks that the existing one conforms. */
import { createTables, untilActive } from '@strongroom/kit/tables'
import type { Db, TableDescription } from '@strongroom/kit/db'
import { isNamed } from '@strongroom/kit/db-errors'
import { createTableInput } from '@strongroom/kit/table'
import { toDb, type DbSource } from '../store/storage.ts'
import { branchKeysTable } from '../tables.ts'
import { keyStoreFailure } from '../errors.ts'

export type CreateKeyStoreOptions = DbSource & {
  tableName: string
  /** Whether to wait until the table is active; only then is recovery enabled on a new one. */
  wait?: boolean
  /** Waits between two checks of a table that is being created; injected by tests. */
  pause?: (ms: number) => Promise<unknown>
}

// KS-58, KS-59, KS-60, KS-61, KS-62, KS-63
export async function createKeyStore(
  options: CreateKeyStoreOptions,
): Promise<{ tableArn: string }> {
  const { tableName, wait = true } = options
  const db = toDb(options)
  if (!tableName) throw new TypeError('Cannot create a key store: pass the tableName')
  const table = { ...branchKeysTable, name: tableName }
  const found = await describe(db, tableName)
  const { description, isNew } = found ? { description: found, isNew: false } : await create()
  const tableArn = arnOfConforming(description)
  // createTables does not change the schema of an existing table.
  if (wait && isNew) await createTables(db, [table], options)
  else if (wait) await untilActive(db, table, options)
  return { tableArn }

  async function create() {
    try {
      const { TableDescription } = await db.createTable(createTableInput(table))
      return { description: TableDescription, isNew: true }
    } catch (error) {
      // Another caller created the table; it can be used if it conforms.
      if (!isNamed(error, 'ResourceInUseException')) throw error
      return { description: await describe(db, tableName), isNew: false }
    }
  }
}

async function describe(db: Db, TableName: string): Promise<TableDescription | undefined> {
  try {
    return (await db.describeTable({ TableName })).Table
  } catch (error) {
    if (isNamed(error, 'ResourceNotFoundException')) return undefined
    throw error
  }
}

/** Additional attributes and indexes of a table are allowed. */
function arnOfConforming(found: TableDescription = {}): string {
  const { KeySchema, AttributeDefinitions } = createTableInput(branchKeysTable)
  const hasKeys = KeySchema.every(({ AttributeName, KeyType }) =>
    found.KeySchema?.some(
      (each) => each.AttributeName === AttributeName && each.KeyType === KeyType,
    ),
  )
  const hasTypes = AttributeDefinitions.every(({ AttributeName, AttributeType }) =>
    found.AttributeDefinitions?.some(
      (each) => each.AttributeName === AttributeName && each.AttributeType === AttributeType,
    ),
  )
  if (!hasKeys || !hasTypes || found.TableArn === undefined)
    throw keyStoreFailure('TableDoesNotConform')
  return found.TableArn
}
