/**
 * What a service stores, as data: from it come docs/data-model.md and the IAM policies of the
 * CloudFormation template. Tables, schemas and key functions are the service's own; this only names
 * them and says which function serves which access pattern.
 */
import type { z } from 'zod'
import type { Table } from './table.ts'

export interface DataModel {
  /** As people write it: `Form-Bridge`. */
  service: string
  entities: readonly EntityModel[]
  patterns: readonly AccessPattern[]
  functions: readonly ServiceFunction[]
  /** Where the specification cannot work as written, and the record that says what we do instead. */
  departures: readonly { what: string; decision: string }[]
}

export interface EntityModel {
  name: string
  table: Table
  /** The template of each key attribute, of the table and of its indexes: `USER#{userId}`. */
  keys: Readonly<Record<string, string>>
  schema: z.ZodObject
  /** When it ends, if it does. */
  lifetime?: string
}

export interface AccessPattern {
  name: string
  /** Where it is in the package: `store.ts: getSecret`. */
  servedBy: string
  table: Table
  index?: string
  /** In DynamoDB's words: `PK = USER#{userId}, SK begins_with SRC#`. */
  key: string
}

/** A part of a service that is deployed on its own, with what it may do and nothing else. */
export interface ServiceFunction {
  name: string
  summary: string
  allows: readonly Allowance[]
}

export interface Allowance {
  table: Table
  /** On the table itself; none for a function that only queries indexes. */
  actions: readonly TableAction[]
  indexes?: readonly string[]
  /** Only partitions whose key, of the table or the index, is like one of these: `AGENCY#*`. */
  leadingKeys?: readonly string[]
}

export type TableAction =
  | 'GetItem'
  | 'PutItem'
  | 'UpdateItem'
  | 'DeleteItem'
  | 'Query'
  | 'Scan'
  | 'BatchGetItem'
  | 'BatchWriteItem'
  | 'ConditionCheckItem'
