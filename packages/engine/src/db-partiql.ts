/** The in-process face of PartiQL: AWS's operations with plain JavaScript values. */
import type { ConsumedCapacity } from './db.ts'
import type { Item, Value } from './values/types.ts'

export interface PartiQl {
  executeStatement(input: ExecuteStatementInput): Promise<ExecuteStatementOutput>
  batchExecuteStatement(input: BatchExecuteStatementInput): Promise<BatchExecuteStatementOutput>
  executeTransaction(input: ExecuteTransactionInput): Promise<ExecuteTransactionOutput>
}

type CapacityDetail = 'NONE' | 'TOTAL' | 'INDEXES'

interface StatementInput {
  Statement: string
  /** The values of the `?` in the statement, in order. */
  Parameters?: Value[]
  ReturnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

export interface ExecuteStatementInput extends StatementInput {
  ConsistentRead?: boolean
  Limit?: number
  NextToken?: string
  ReturnConsumedCapacity?: CapacityDetail
}

export interface ExecuteStatementOutput {
  Items?: Item[]
  NextToken?: string
  LastEvaluatedKey?: Item
  ConsumedCapacity?: ConsumedCapacity
}

export interface BatchStatementInput extends StatementInput {
  ConsistentRead?: boolean
}

export interface BatchExecuteStatementInput {
  Statements: BatchStatementInput[]
  ReturnConsumedCapacity?: CapacityDetail
}

export interface BatchStatementResponse {
  TableName?: string
  Item?: Item
  Error?: { Code?: string; Message?: string; Item?: Item }
}

export interface BatchExecuteStatementOutput {
  Responses?: BatchStatementResponse[]
  /** One for each statement, in order. */
  ConsumedCapacity?: ConsumedCapacity[]
}

export interface ExecuteTransactionInput {
  TransactStatements: StatementInput[]
  ClientRequestToken?: string
  ReturnConsumedCapacity?: CapacityDetail
}

export interface ExecuteTransactionOutput {
  Responses?: { Item?: Item }[]
  ConsumedCapacity?: ConsumedCapacity[]
}
