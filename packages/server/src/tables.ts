/** Every table of the product: the server's own and those of its services. */
import { Failure } from '@strongroom/kit/errors'
import { branchKeysTable } from '@strongroom/key-store/tables'
import { createTables, verifyTables } from '@strongroom/kit/tables'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import type { Service } from '@strongroom/kit/service'
import type { Table } from '@strongroom/kit/table'
import { type Store } from './store.ts'

/** Includes the branch keys: any service may store secrets. */
export function tablesOf(services: readonly Pick<Service, 'tables'>[]): Table[] {
  const own = [serverTable, operationsTable, branchKeysTable]
  return [...new Set([...own, ...services.flatMap(({ tables }) => tables)])]
}

/**
 * Creates missing tables on the embedded store. Elsewhere creating tables is the operator's decision, so
 * a missing or different one fails.
 */
export async function requireTables(
  { db, kind, recoveryDays }: Store,
  tables: readonly Table[],
): Promise<void> {
  if (kind === 'embedded') return createTables(db, tables, { recoveryDays })
  const checks = await verifyTables(db, tables)
  const wrong = checks.find(({ differences }) => differences.length > 0)
  if (wrong) {
    throw new Failure(
      'failed',
      `Table ${wrong.table} differs from its definition (${wrong.differences[0]}): run "strongroom tables verify"`,
    )
  }
}
