/** Every table of the product: the server's own and those of its services. */
import { Failure } from '@strongroom/kit/errors'
import { branchKeysTable } from '@strongroom/key-store/tables'
import { createTables, findMissingTables, verifyTables } from '@strongroom/kit/tables'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import type { Service } from '@strongroom/kit/service'
import type { Table } from '@strongroom/kit/table'
import { requireNoUnfinishedCopy } from './copies/state.ts'
import { requireKnownVersion } from './store-version/store-version.ts'
import { type Store } from './store.ts'

/** Includes the branch keys: any service may store secrets. */
export function tablesOf(services: readonly Pick<Service, 'tables'>[]): Table[] {
  const own = [serverTable, operationsTable, branchKeysTable]
  return [...new Set([...own, ...services.flatMap(({ tables }) => tables)])]
}

/** The tables exist, are as declared, are not being copied into, and no newer version uses them. */
export async function requireTables(store: Store, tables: readonly Table[]): Promise<void> {
  await requireDeclaredTables(store, tables)
  if (!tables.includes(serverTable)) return
  await requireNoUnfinishedCopy(store.db)
  await requireKnownVersion(store.db)
}

/**
 * Creates missing tables on the embedded store, unless the command only uses what exists. Elsewhere
 * creating tables is the operator's decision, so a missing or different one fails.
 */
export async function requireDeclaredTables(
  { db, kind, mayCreate = true, recoveryDays, location }: Store,
  tables: readonly Table[],
): Promise<void> {
  if (kind === 'embedded') {
    if (mayCreate) return createTables(db, tables, { recoveryDays })
    const [missing] = await findMissingTables(db, tables)
    if (missing === undefined) return
    throw new Failure(
      'failed',
      `The store in ${location} has no table ${missing}: set STRONGROOM_DATA and STRONGROOM_TABLE_PREFIX to those of the server, or run "strongroom tables create"`,
    )
  }
  const checks = await verifyTables(db, tables)
  const wrong = checks.find(({ differences }) => differences.length > 0)
  if (wrong) {
    throw new Failure(
      'failed',
      `Table ${wrong.table} differs from its definition (${wrong.differences[0]}): run "strongroom tables verify"`,
    )
  }
}

/** Stores of earlier versions have no audit log. Commands that change a store add it, if the store exists. */
export async function requireAuditLog(store: Store): Promise<void> {
  await requireTables(store, [serverTable])
  await requireTables({ ...store, mayCreate: true }, [operationsTable])
}
