/** Opens the embedded store for commands on its tables themselves. */
import { resolve } from 'node:path'
import { type Engine, openEngine } from '@strongroom/engine/engine'
import type { Db } from '@strongroom/kit/db'
import { Failure } from '@strongroom/kit/errors'
import { prefixTables } from '@strongroom/kit/prefix-tables'
import type { Table } from '@strongroom/kit/table'
import { everyTable } from '@strongroom/server/data-model'
import { type Settings, settings } from '@strongroom/server/settings'
import { requireEmbeddedStore, storeKind } from '@strongroom/server/store'
import { type CommandInput, usageError } from '../command.ts'
import { processesOn } from '../copy/store-users.ts'

export interface EmbeddedTables {
  engine: Engine
  /** With the names of tables as they are declared. */
  db: Db
  prefix: string
  directory: string
  configured: Settings
}

export async function withEmbeddedTables<T>(
  { env, options: { data } }: CommandInput,
  work: (tables: EmbeddedTables) => Promise<T>,
): Promise<T> {
  const configured = settings.parse(
    typeof data === 'string' ? { ...env, STRONGROOM_DATA: data } : env,
  )
  if (storeKind(configured) !== 'embedded') {
    throw new Failure(
      'failed',
      "This command recovers tables of the embedded store: on DynamoDB use AWS's own point-in-time recovery",
    )
  }
  const directory = resolve(configured.STRONGROOM_DATA)
  requireEmbeddedStore(directory)
  const engine = await openEngine({ directory })
  try {
    const prefix = configured.STRONGROOM_TABLE_PREFIX
    return await work({ engine, db: prefixTables(engine, prefix), prefix, directory, configured })
  } finally {
    await engine.close()
  }
}

export function findDeclaredTable(name: string): Table {
  const table = everyTable.find((each) => each.name === name)
  if (table) return table
  throw usageError(
    `There is no table "${name}": choose from ${everyTable.map((each) => each.name).join(', ')}`,
  )
}

/** A running server has keys and tasks of the present tables in memory. */
export async function requireUnused(directory: string): Promise<void> {
  const users = await processesOn(directory)
  if (users.length === 0) return
  throw new Failure(
    'failed',
    `The store in ${directory} is in use (${users.join('; ')}): stop it before you replace a table`,
  )
}
