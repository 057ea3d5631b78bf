/** Every table of the product: the server's own and those of its services. */
import { branchKeysTable } from '@strongroom/key-store/table'
import { createTables } from '@strongroom/kit/create-tables'
import { serverTable } from '@strongroom/kit/server-table'
import type { Service } from '@strongroom/kit/service'
import type { Table } from '@strongroom/kit/table'
import { verifyTables } from '@strongroom/kit/verify-tables'
import { type Store, StoreUnavailable } from './store.ts'

/** With that of the branch keys: any service may have to keep a secret. */
export function tablesOf(services: readonly Pick<Service, 'tables'>[]): Table[] {
  return [...new Set([serverTable, branchKeysTable, ...services.flatMap(({ tables }) => tables)])]
}

/**
 * Sees to it that the tables are there. On the embedded store they are made on the way; elsewhere
 * making tables is a decision of its operator, so a missing one stops the start.
 */
export async function requireTables(
  { db, kind, recoveryDays }: Store,
  tables: readonly Table[],
): Promise<void> {
  if (kind === 'embedded') return createTables(db, tables, { recoveryDays })
  const checks = await verifyTables(db, tables)
  const wrong = checks.find(({ differences }) => differences.length > 0)
  if (wrong) {
    throw new StoreUnavailable(
      `Table ${wrong.table} is not as it must be (${wrong.differences[0]}): see "strongroom tables verify"`,
    )
  }
}
