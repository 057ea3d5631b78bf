/**
 * The entities and functions of a service, as data: docs/data-model.md and the IAM policies of
 * deployed functions are generated from them.
 */
import type { z } from 'zod'
import type { Table } from './table.ts'

export interface DataModel {
  /** As people write it: `Form-Bridge`. */
  service: string
  entities: readonly EntityModel[]
  functions: readonly ServiceFunction[]
}

export interface EntityModel {
  name: string
  table: Table
  /** The template of each key attribute, of the table and of its indexes: `USER#{userId}`. */
  keys: Readonly<Record<string, string>>
  schema: z.ZodObject
  /** How long it lives, if it expires. */
  lifetime?: string
}

/** A part of a service that can be deployed on its own, with the permissions that it needs. */
export interface ServiceFunction {
  name: string
  summary: string
  allows: readonly Allowance[]
  /** On the KMS key of the deployment; none by default. */
  kms?: readonly KmsAction[]
}

export interface Allowance {
  table: Table
  /** On the table itself; empty for a function that only queries indexes. */
  actions: readonly TableAction[]
  indexes?: readonly string[]
  /** Limits access to partition keys, of the table or the index, that match one of these: `AGENCY#*`. */
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
  | 'DescribeTable'
  | 'DescribeContinuousBackups'

/** IAM checks ReEncrypt as two actions: on the source key and on the destination key. */
export type KmsAction =
  | 'Encrypt'
  | 'Decrypt'
  | 'GenerateDataKeyWithoutPlaintext'
  | 'ReEncryptFrom'
  | 'ReEncryptTo'
  | 'DescribeKey'
