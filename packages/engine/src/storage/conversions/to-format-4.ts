import { ALL_TABLES, tableKey } from '../catalog.ts'
import type { Environment } from '../lmdb/lmdb.ts'
import type { TableRecord } from '../storage.ts'
import type { Conversion } from './conversion.ts'

/**
 * Format 4 added items that are encrypted with keys of their own. Which tables have them is decided by
 * whoever opens the directory, so no item is rewritten here; but programs that cannot decrypt items, and
 * would not overwrite the keys of deleted ones, must not use it any more.
 */
export const toFormat4: Conversion = {
  to: 4,
  summary: 'enables secure deletion',
  growth: 0,
  step: removeOption,
}

/** A table that an older version restored from a newer backup has the option, but no encrypted items. */
function removeOption(env: Environment): undefined {
  const tables = Array.from(env.meta.getRange(ALL_TABLES))
  for (const { value } of tables) {
    const { encrypted, encrypting: _encrypting, details = {}, ...rest } = value as TableRecord
    if (!encrypted) continue
    const { secureDelete: _secureDelete, ...other } = details
    env.meta.putSync(tableKey(rest.name), { ...rest, details: other } satisfies TableRecord)
  }
}
