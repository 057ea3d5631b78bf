/** DescribeTable. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { TableDescription, TableInput } from '../db.ts'
import { namedTable } from '../validation/names.ts'
import { structure, tableName } from '../validation/shapes.ts'
import { describeTable as described } from './describe.ts'
import type { Operation } from './operation.ts'

export const describeTable: Operation<TableInput, { Table?: TableDescription }> = {
  name: 'DescribeTable',
  input: structure('DescribeTableInput', { 'TableName!': tableName }),

  async run(context, input) {
    const table = namedTable(context.storage, input.TableName)
    // A client that polls until an index is filled must not starve the job that fills it.
    if (table.indexes.some((index) => index.status === 'CREATING')) await nextTurn()
    return { Table: described(context, table) }
  },
}
