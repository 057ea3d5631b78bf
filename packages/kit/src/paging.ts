/** Pages of queries and scans: filled to their limit, however much a filter leaves out on the way. */
import type { Db, Item, PageOutput } from './db.ts'
import { type Expression, Placeholders } from './expression.ts'
import type { Table } from './table.ts'

export interface Page<T> {
  items: T[]
  /** Where to continue; undefined if there is no more. */
  next: Item | undefined
}

export interface PageRequest {
  /** As many as there are unless given. */
  limit?: number
  /** Where the previous page ended. */
  after?: Item | undefined
}

export interface PageQuery extends PageRequest {
  /** The key condition: the partition and, if wanted, a range of it. */
  key: Expression
  index?: string
  filter?: Expression
  newestFirst?: boolean
  /** After this many reads the page ends unfilled, because a filter may leave out nearly everything. */
  maxReads?: number
  /** Cheaper, and may be slightly stale. Reads of an index always are. */
  eventual?: boolean
}

export interface Scan {
  filter?: Expression
  /** The attributes to read, as DynamoDB's projection expression; all unless given. */
  projection?: Expression
  /** Items that one call of the store examines; as many as fit into a megabyte unless given. */
  readSize?: number
}

/** Items that one read of a filtered query examines, because most of them may be left out. */
const FILTERED_READ_SIZE = 200

export async function queryPage<T>(
  db: Db,
  table: Table,
  query: PageQuery,
  parse: (item: Item) => T,
): Promise<Page<T>> {
  const placeholders = new Placeholders()
  const request = {
    TableName: table.name,
    KeyConditionExpression: placeholders.render(query.key),
    ...(query.filter && { FilterExpression: placeholders.render(query.filter) }),
    ...placeholders.parameters(),
    ...(query.index ? { IndexName: query.index } : { ConsistentRead: !query.eventual }),
    ScanIndexForward: !query.newestFirst,
  }
  return fillPage(table, query, parse, ({ after, missing }) => {
    const readSize = query.filter ? FILTERED_READ_SIZE : missing
    return db.query({
      ...request,
      ...(Number.isFinite(readSize) && { Limit: readSize }),
      ...(after && { ExclusiveStartKey: after }),
    })
  })
}

/** A page of all items of a table, in no useful order. Reads consistently. */
export async function scanPage<T>(
  db: Db,
  table: Table,
  scan: Scan & PageRequest,
  parse: (item: Item) => T,
): Promise<Page<T>> {
  const request = scanRequest(table, scan)
  return fillPage(table, scan, parse, ({ after, missing }) => {
    // Without a filter every item counts, so a read needs no more than what is missing.
    const readSize = scan.filter ? scan.readSize : Math.min(scan.readSize ?? missing, missing)
    return db.scan({
      ...request,
      ...(readSize !== undefined && Number.isFinite(readSize) && { Limit: readSize }),
      ...(after && { ExclusiveStartKey: after }),
    })
  })
}

/** All items of a table, one read at a time, in no useful order. Reads consistently. */
export async function* scanAll<T>(
  db: Db,
  table: Table,
  scan: Scan,
  parse: (item: Item) => T,
): AsyncGenerator<T> {
  const request = scanRequest(table, scan)
  let after: Item | undefined
  do {
    const page = await db.scan({
      ...request,
      ...(scan.readSize !== undefined && { Limit: scan.readSize }),
      ...(after && { ExclusiveStartKey: after }),
    })
    for (const item of page.Items ?? []) yield parse(item)
    after = page.LastEvaluatedKey
  } while (after)
}

interface Filling extends PageRequest {
  index?: string
  maxReads?: number
}

async function fillPage<T>(
  table: Table,
  { limit = Number.POSITIVE_INFINITY, maxReads = Number.POSITIVE_INFINITY, ...page }: Filling,
  parse: (item: Item) => T,
  read: (part: { after: Item | undefined; missing: number }) => Promise<PageOutput>,
): Promise<Page<T>> {
  const found: Item[] = []
  let next = page.after
  let reads = 0
  do {
    const output = await read({ after: next, missing: limit - found.length })
    found.push(...(output.Items ?? []))
    next = output.LastEvaluatedKey
    reads += 1
  } while (next && found.length < limit && reads < maxReads)

  const items = found.slice(0, limit)
  const last = items.at(-1)
  // A filtered read may find more than the limit; the next page then starts after the last one returned.
  if (last && found.length > items.length) next = keyIn(table, page.index, last)
  return { items: items.map(parse), next }
}

function scanRequest(table: Table, { filter, projection }: Scan) {
  const placeholders = new Placeholders()
  return {
    TableName: table.name,
    ...(filter && { FilterExpression: placeholders.render(filter) }),
    ...(projection && { ProjectionExpression: placeholders.render(projection) }),
    ...placeholders.parameters(),
    ConsistentRead: true,
  }
}

function keyIn(table: Table, indexName: string | undefined, item: Item): Item {
  const index = indexName ? table.indexes?.[indexName] : undefined
  const keys = [table.partitionKey, table.sortKey, index?.partitionKey, index?.sortKey]
  const names = keys.flatMap((key) => (key ? [key.name] : []))
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)))
}
