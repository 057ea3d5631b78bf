/**
 * A table, declared once, as data: for creation, verification, CloudFormation and the key types of
 * entities.
 */
import type { CreateTableInput, IndexProjection, KeySchemaElement } from './db.ts'

export interface Table<Key extends string = string> {
  /** The name in the specification; a deployment's prefix is added by `prefix-tables.ts`. */
  name: string
  /** What the table stores, as one sentence. */
  description: string
  partitionKey: KeyAttribute<Key>
  sortKey?: KeyAttribute<Key>
  /** Global secondary indexes by name. */
  indexes?: Record<string, TableIndex>
  /** The attribute with the epoch second at which an item may be deleted. */
  ttl?: string
  pointInTimeRecovery: boolean
  /**
   * On the embedded store, what a write replaces or deletes cannot be recovered from the disk. DynamoDB
   * has no such option.
   */
  secureDelete?: boolean
  /** What a record of its stream has, for functions that changes of the table start. */
  stream?: StreamView
  tags?: Record<string, string>
  /** The logical id in CloudFormation templates, if the specification has one. */
  logicalId?: string
}

export type StreamView = 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'

export interface TableIndex {
  partitionKey: KeyAttribute
  sortKey?: KeyAttribute
  projection: 'ALL' | 'KEYS_ONLY' | { include: [string, ...string[]] }
}

export interface KeyAttribute<Name extends string = string> {
  name: Name
  type: 'S' | 'N' | 'B'
}

/** Declares a table; the compiler then knows the names of its key attributes. */
export function defineTable<const Key extends string>(table: Table<Key>): Table<Key> {
  return table
}

/** The declaration as the input of CreateTable, which CloudFormation uses too. */
export function createTableInput(table: Table): CreateTableInput {
  const indexes = Object.entries(table.indexes ?? {})
  const keys = [table, ...Object.values(table.indexes ?? {})].flatMap(keyAttributes)
  const types = new Map(keys.map(({ name, type }) => [name, type]))
  return {
    TableName: table.name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(table),
    AttributeDefinitions: Array.from(types, ([AttributeName, AttributeType]) => ({
      AttributeName,
      AttributeType,
    })),
    ...(indexes.length > 0 && {
      GlobalSecondaryIndexes: indexes.map(([IndexName, index]) => ({
        IndexName,
        KeySchema: keySchema(index),
        Projection: indexProjection(index),
      })),
    }),
    ...(table.stream && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream },
    }),
    ...(table.tags && {
      Tags: Object.entries(table.tags).map(([Key, Value]) => ({ Key, Value })),
    }),
  }
}

type Keyed = Pick<TableIndex, 'partitionKey' | 'sortKey'>

function keyAttributes({ partitionKey, sortKey }: Keyed): KeyAttribute[] {
  return sortKey ? [partitionKey, sortKey] : [partitionKey]
}

function keySchema({ partitionKey, sortKey }: Keyed): KeySchemaElement[] {
  const hash = { AttributeName: partitionKey.name, KeyType: 'HASH' as const }
  return sortKey ? [hash, { AttributeName: sortKey.name, KeyType: 'RANGE' }] : [hash]
}

function indexProjection({ projection }: TableIndex): IndexProjection {
  if (typeof projection === 'string') return { ProjectionType: projection }
  return { ProjectionType: 'INCLUDE', NonKeyAttributes: projection.include }
}
