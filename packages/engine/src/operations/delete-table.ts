/** DeleteTable. The name is free at once; items are removed in the background. */
import type { TableDescription, TableInput } from '../db.ts'
import { validationError } from '../errors.ts'
import { namedTable } from '../validation/names.ts'
import { structure, tableName } from '../validation/shapes.ts'
import { describeTable, detailsOf } from './describe.ts'
import type { Operation } from './operation.ts'

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
    await context.storage.dropTable(table.name)
    return { TableDescription: describeTable(context, table, 'DELETING') }
  },
}
