/** Puts recovered tables in place of the present ones, which are kept as safety copies. */
import { createAuditLog } from '@strongroom/kit/audit-log'
import { Failure } from '@strongroom/kit/errors'
import { serverTable } from '@strongroom/kit/server-table'
import type { Table } from '@strongroom/kit/table'
import { createTables } from '@strongroom/kit/tables'
import { systemClock } from '@strongroom/platform/clock'
import { findMasterKeyCheck } from '@strongroom/server/kms/key-storage'
import { localActor } from '@strongroom/server/local-actor'
import { type EmbeddedTables, requireUnused } from './embedded-tables.ts'
import { safetyCopyName } from './moment.ts'

export interface Replacement {
  table: Table
  /** The table that takes its place, without the prefix. */
  by: string
}

/** All in one commit. Returns the names of the safety copies, in the same order. */
export async function putInPlace(
  tables: EmbeddedTables,
  replacements: readonly Replacement[],
): Promise<string[]> {
  const { engine, db, prefix, directory, configured } = tables
  // Time to live and point-in-time recovery are not part of a restored table.
  const declared = replacements.map(({ table, by }) => ({ ...table, name: by }))
  await createTables(db, declared, { recoveryDays: configured.STRONGROOM_RECOVERY_DAYS })
  await engine.settled()
  for (const each of replacements) requireSameMasterKey(tables, each)
  await requireUnused(directory)
  const now = systemClock.now()
  const copies = replacements.map(({ table }) => safetyCopyName(table.name, now))
  await engine.storage.swapTables(
    replacements.map(({ table, by }, index) => ({
      name: prefix + table.name,
      by: prefix + by,
      keepAs: prefix + copies[index],
    })),
  )
  await createAuditLog({ db, clock: systemClock }).record({
    ...localActor(),
    action: 'server.tables.recovered',
    after: { tables: replacements.map(({ table, by }) => `${table.name} from ${by}`) },
  })
  return copies
}

/** The keys of the embedded KMS are in this table. */
function requireSameMasterKey({ engine, prefix }: EmbeddedTables, { table, by }: Replacement) {
  if (table !== serverTable) return
  const checksOf = (name: string) => {
    const record = engine.storage.table(prefix + name)
    const items = record ? engine.storage.range(record, undefined, {}) : []
    return new Set(
      Array.from(items, (item) => findMasterKeyCheck(item))
        .filter((check) => check !== undefined)
        .map((check) => Buffer.from(check).toString('hex')),
    )
  }
  const [present, recovered] = [checksOf(table.name), checksOf(by)]
  if ([...present].every((check) => recovered.has(check))) return
  throw new Failure(
    'failed',
    `${by} has no key of the present master key: it is from before a rekey or before the first start. Nothing was replaced.`,
  )
}
