/**
 * DeleteTable. The name is free immediately; items are removed in the background. As in AWS, the items of
 * a table with point-in-time recovery are kept as a system backup.
 */
import type { TableDescription, TableInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { namedTable } from '../validation/names.ts'
import { structure, tableName } from '../validation/shapes.ts'
import type { DropOptions, TableRecord } from '../storage/storage.ts'
import { recoveryOf } from './continuous-backups.ts'
import { describeTable, detailsOf } from './describe.ts'
import type { Operation } from './operation.ts'

const SYSTEM_BACKUP_MS = 35 * 24 * 60 * 60 * 1000

export const deleteTable: Operation<TableInput, { TableDescription?: TableDescription }> = {
  name: 'DeleteTable',
  input: structure('DeleteTableInput', { 'TableName!': tableName }),

  async run(context, input) {
    const table = namedTable(context.storage, input.TableName)
    if (detailsOf(table).deletionProtection) {
      throw validationError(
        'Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection first.',
      )
    }
    await context.storage.dropTable(table.name, recoveryOf(table) ? keepOptions(table) : {})
    return { TableDescription: describeTable(context, table, 'DELETING') }
  },
}

function keepOptions({ name }: TableRecord): DropOptions {
  return { keepAs: { name: `${name}$DeletedTableBackup`, keepMs: SYSTEM_BACKUP_MS } }
}
