/** DescribeTable. */
import type { TableDescription, TableInput } from '../db.ts'
import { namedTable } from '../validation/names.ts'
import { structure, tableName } from '../validation/shapes.ts'
import { describeTable as described } from './describe.ts'
import type { Operation } from './operation.ts'

export const describeTable: Operation<TableInput, { Table?: TableDescription }> = {
  name: 'DescribeTable',
  input: structure('DescribeTableInput', { 'TableName!': tableName }),

  run(context, input) {
    return { Table: described(context, namedTable(context.storage, input.TableName)) }
  },
}
