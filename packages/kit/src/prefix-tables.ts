/**
 * A Db that adds a prefix to all table names, so that several deployments can share an account while
 * services use the declared names.
 */
import type { Db } from './db.ts'

export function prefixTables(db: Db, prefix: string): Db {
  if (prefix === '') return db

  const to = <Input extends { TableName: string }>(input: Input): Input => ({
    ...input,
    TableName: prefix + input.TableName,
  })
  const from = (name: string) => name.slice(prefix.length)
  const add = (name: string) => prefix + name

  return {
    getItem: (input) => db.getItem(to(input)),
    putItem: (input) => db.putItem(to(input)),
    updateItem: (input) => db.updateItem(to(input)),
    deleteItem: (input) => db.deleteItem(to(input)),
    query: (input) => db.query(to(input)),
    scan: (input) => db.scan(to(input)),

    async batchGetItem(input) {
      const output = await db.batchGetItem({ RequestItems: rename(input.RequestItems, add) })
      return {
        ...(output.Responses && { Responses: rename(output.Responses, from) }),
        ...(output.UnprocessedKeys && { UnprocessedKeys: rename(output.UnprocessedKeys, from) }),
      }
    },
    async batchWriteItem(input) {
      const output = await db.batchWriteItem({ RequestItems: rename(input.RequestItems, add) })
      if (!output.UnprocessedItems) return {}
      return { UnprocessedItems: rename(output.UnprocessedItems, from) }
    },
    transactGetItems: (input) =>
      db.transactGetItems({
        TransactItems: input.TransactItems.map(({ Get }) => ({ Get: to(Get) })),
      }),
    transactWriteItems: (input) =>
      db.transactWriteItems({
        ...input,
        TransactItems: input.TransactItems.map(({ Put, Update, Delete, ConditionCheck }) => ({
          ...(Put && { Put: to(Put) }),
          ...(Update && { Update: to(Update) }),
          ...(Delete && { Delete: to(Delete) }),
          ...(ConditionCheck && { ConditionCheck: to(ConditionCheck) }),
        })),
      }),

    createTable: (input) => db.createTable(to(input)),
    ...(db.updateTable && { updateTable: (input) => db.updateTable!(to(input)) }),
    describeTable: (input) => db.describeTable(to(input)),
    deleteTable: (input) => db.deleteTable(to(input)),
    updateTimeToLive: (input) => db.updateTimeToLive(to(input)),
    describeTimeToLive: (input) => db.describeTimeToLive(to(input)),
    updateContinuousBackups: (input) => db.updateContinuousBackups(to(input)),
    describeContinuousBackups: (input) => db.describeContinuousBackups(to(input)),
  }
}

function rename<T>(tables: Record<string, T>, change: (name: string) => string): Record<string, T> {
  return Object.fromEntries(Object.entries(tables).map(([name, value]) => [change(name), value]))
}
