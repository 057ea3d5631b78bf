/** One page of a query: filled to its limit, whatever a filter leaves out on the way. */
import type { Db, Item } from './db.ts'
import { type Expression, Placeholders } from './expression.ts'
import type { Table } from './table.ts'

export interface PageQuery {
  /** The key condition: the partition and, if wanted, a range of it. */
  key: Expression
  index?: string
  filter?: Expression
  newestFirst?: boolean
  limit?: number
  /** After so many reads the page ends unfilled, because a filter may leave out nearly everything. */
  mostReads?: number
  /** Where the page before this one ended. */
  after?: Item | undefined
  /** Cheaper, and may be a moment behind. Reads of an index always are. */
  eventual?: boolean
}

export interface Page<T> {
  items: T[]
  /** Where to continue; undefined if there is no more. */
  next: Item | undefined
}

/** A filtered query reads this many items at once: most of them may be left out. */
const FILTERED_READ = 200

export async function queryPage<T>(
  db: Db,
  table: Table,
  query: PageQuery,
  parse: (item: Item) => T,
): Promise<Page<T>> {
  const request = requestOf(table, query)
  const limit = query.limit ?? Number.POSITIVE_INFINITY
  const found: Item[] = []
  let next = query.after
  let readsLeft = query.mostReads ?? Number.POSITIVE_INFINITY
  do {
    const wanted = query.filter ? FILTERED_READ : limit - found.length
    const page = await db.query({
      ...request,
      ...(Number.isFinite(wanted) && { Limit: wanted }),
      ...(next && { ExclusiveStartKey: next }),
    })
    found.push(...(page.Items ?? []))
    next = page.LastEvaluatedKey
    readsLeft -= 1
  } while (next && found.length < limit && readsLeft > 0)

  const items = found.slice(0, limit)
  const last = items.at(-1)
  // A filtered read may have found more than asked for; then the next page starts after the last kept.
  if (last && found.length > items.length) next = keyIn(table, query.index, last)
  return { items: items.map(parse), next }
}

function requestOf(table: Table, query: PageQuery) {
  const placeholders = new Placeholders()
  const KeyConditionExpression = placeholders.render(query.key)
  const filter = query.filter && { FilterExpression: placeholders.render(query.filter) }
  return {
    TableName: table.name,
    KeyConditionExpression,
    ...filter,
    ...placeholders.parameters(),
    ...(query.index ? { IndexName: query.index } : { ConsistentRead: !query.eventual }),
    ScanIndexForward: !query.newestFirst,
  }
}

function keyIn(table: Table, indexName: string | undefined, item: Item): Item {
  const index = indexName ? table.indexes?.[indexName] : undefined
  const keys = [table.partitionKey, table.sortKey, index?.partitionKey, index?.sortKey]
  const names = keys.flatMap((key) => (key ? [key.name] : []))
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)))
}
