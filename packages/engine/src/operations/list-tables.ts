/** ListTables: names in order, at most 100 at a time. */
import type { ListTablesInput, ListTablesOutput } from '../db.ts'
import { integer, structure, tableName } from '../validation/shapes.ts'
import type { Operation } from './operation.ts'

const MAX_NAMES = 100

export const listTables: Operation<ListTablesInput, ListTablesOutput> = {
  name: 'ListTables',
  input: structure('ListTablesInput', {
    Limit: integer({ min: 1, max: MAX_NAMES }),
    ExclusiveStartTableName: tableName,
  }),

  run({ storage }, input) {
    const start = input.ExclusiveStartTableName ?? ''
    const names = storage.tables().map((table) => table.name)
    const rest = names.filter((name) => name > start)
    const page = rest.slice(0, input.Limit ?? MAX_NAMES)
    const last = page.at(-1)
    return {
      TableNames: page,
      ...(page.length < rest.length && last !== undefined && { LastEvaluatedTableName: last }),
    }
  },
}
