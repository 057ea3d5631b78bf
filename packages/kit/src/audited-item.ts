/**
 * The item that an audit log entry describes. What the entry says about it is read just before the
 * write, and is a condition of the write: if another writer was faster, both are repeated.
 */
import { isDeepStrictEqual } from 'node:util'
import type { Db, Item, TransactWriteItem } from './db.ts'
import type { TransactionReason } from './db-errors.ts'
import type { Table } from './table.ts'

export interface AuditedItem {
  table: Pick<Table, 'name'>
  key: Item
  /** Those that the description depends on. */
  attributes: readonly string[]
  /** What the entry says, given the item before the write; undefined if it does not exist. */
  describe(item: Item | undefined): { before?: object | undefined; after?: object | undefined }
}

export async function readAuditedItem(
  db: Db,
  { table, key }: AuditedItem,
): Promise<Item | undefined> {
  return (await db.getItem({ TableName: table.name, Key: key, ConsistentRead: true })).Item
}

/**
 * Whether the write failed because another writer changed the described attributes. The reason has the
 * item as the condition found it; read again, it could be as before.
 */
export function wasChanged(
  audited: AuditedItem,
  before: Item | undefined,
  parts: readonly TransactWriteItem[],
  reasons: readonly TransactionReason[],
): boolean {
  const reason = reasons[indexOf(parts, audited)]
  if (reason?.code !== 'ConditionalCheckFailed') return false
  return audited.attributes.some((name) => !isDeepStrictEqual(before?.[name], reason.item?.[name]))
}

/** The same parts; the one that writes the item requires that its attributes are as they were read. */
export function requireUnchanged(
  parts: readonly TransactWriteItem[],
  audited: AuditedItem,
  item: Item | undefined,
): TransactWriteItem[] {
  const at = indexOf(parts, audited)
  const { Put, Update, Delete } = parts[at] ?? {}
  const condition = conditionOf(audited, item)
  const conditional: TransactWriteItem | undefined =
    (Put && { Put: withCondition(Put, condition) }) ??
    (Update && { Update: withCondition(Update, condition) }) ??
    (Delete && { Delete: withCondition(Delete, condition) })
  if (!conditional) throw new TypeError('The audited item is not part of the write')
  return parts.with(at, conditional)
}

function indexOf(parts: readonly TransactWriteItem[], audited: AuditedItem): number {
  return parts.findIndex((part) => writesItem(part, audited))
}

function writesItem({ Put, Update, Delete }: TransactWriteItem, { table, key }: AuditedItem) {
  const { TableName } = Put ?? Update ?? Delete ?? {}
  const written = Put?.Item ?? Update?.Key ?? Delete?.Key ?? {}
  return (
    TableName === table.name &&
    Object.entries(key).every(([name, value]) => written[name] === value)
  )
}

interface Condition {
  ConditionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Item
}

function conditionOf({ attributes }: AuditedItem, item: Item | undefined): Required<Condition> {
  const condition: Required<Condition> = {
    ConditionExpression: '',
    ExpressionAttributeNames: {},
    ExpressionAttributeValues: {},
  }
  const terms = attributes.map((name, at) => {
    const value = item?.[name]
    condition.ExpressionAttributeNames[`#audited${at}`] = name
    if (value === undefined) return `attribute_not_exists(#audited${at})`
    condition.ExpressionAttributeValues[`:audited${at}`] = value
    return `#audited${at} = :audited${at}`
  })
  return { ...condition, ConditionExpression: terms.join(' AND ') }
}

function withCondition<Write extends Condition>(
  write: Write,
  condition: Required<Condition>,
): Write {
  const { ConditionExpression: own } = write
  const names = { ...write.ExpressionAttributeNames, ...condition.ExpressionAttributeNames }
  const values = { ...write.ExpressionAttributeValues, ...condition.ExpressionAttributeValues }
  const both = condition.ConditionExpression
  return {
    ...write,
    ConditionExpression: own === undefined ? both : `(${own}) AND ${both}`,
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    ExpressionAttributeNames: names,
    ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
  }
}
