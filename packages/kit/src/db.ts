/**
 * The interface between services and stores: DynamoDB's own operations, inputs and outputs, with plain
 * JavaScript values instead of typed attribute values.
 *
 * Two stores implement it: the embedded engine in process, and `aws-db.ts` over the AWS SDK. Errors
 * have AWS's names (`error.name`), see `db-errors.ts`. Only what services use is declared here.
 */
import type { NumberValue } from './number-value.ts'

export type Value =
  | string
  | number
  | NumberValue
  | boolean
  | null
  | Uint8Array
  | Set<string>
  | Set<number | NumberValue>
  | Set<Uint8Array>
  | Value[]
  | { [name: string]: Value }

export type Item = Record<string, Value>

export interface Db {
  getItem(input: GetItemInput): Promise<GetItemOutput>
  putItem(input: PutItemInput): Promise<WriteOutput>
  updateItem(input: UpdateItemInput): Promise<WriteOutput>
  deleteItem(input: DeleteItemInput): Promise<WriteOutput>
  query(input: QueryInput): Promise<PageOutput>
  scan(input: ScanInput): Promise<PageOutput>
  batchGetItem(input: BatchGetItemInput): Promise<BatchGetItemOutput>
  batchWriteItem(input: BatchWriteItemInput): Promise<BatchWriteItemOutput>
  transactGetItems(input: TransactGetItemsInput): Promise<TransactGetItemsOutput>
  transactWriteItems(input: TransactWriteItemsInput): Promise<TransactWriteItemsOutput>

  createTable(input: CreateTableInput): Promise<{ TableDescription?: TableDescription }>
  describeTable(input: TableInput): Promise<{ Table?: TableDescription }>
  /** Only the embedded store has it. */
  updateTable?(input: UpdateTableInput): Promise<object>
  deleteTable(input: TableInput): Promise<{ TableDescription?: TableDescription }>
  updateTimeToLive(input: UpdateTimeToLiveInput): Promise<object>
  describeTimeToLive(input: TableInput): Promise<DescribeTimeToLiveOutput>
  updateContinuousBackups(input: UpdateContinuousBackupsInput): Promise<object>
  describeContinuousBackups(input: TableInput): Promise<DescribeContinuousBackupsOutput>
}

const OPERATIONS = [
  'getItem',
  'putItem',
  'updateItem',
  'deleteItem',
  'query',
  'scan',
  'batchGetItem',
  'batchWriteItem',
  'transactGetItems',
  'transactWriteItems',
  'createTable',
  'describeTable',
  'deleteTable',
  'updateTimeToLive',
  'describeTimeToLive',
  'updateContinuousBackups',
  'describeContinuousBackups',
] as const satisfies (keyof Db)[]

export type DbOperation = (typeof OPERATIONS)[number]

/** Creates a Db operation by operation, for wrappers that treat all of them alike. */
export function eachOperation(
  create: (name: DbOperation) => (input: never) => Promise<object>,
): Db {
  return Object.fromEntries(OPERATIONS.map((name) => [name, create(name)])) as unknown as Db
}

/** The names and values that an expression's placeholders stand for. */
interface Placeholders {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, Value>
}

interface Conditional extends Placeholders {
  ConditionExpression?: string
  ReturnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

export interface GetItemInput {
  TableName: string
  Key: Item
  ConsistentRead?: boolean
  ProjectionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
}

export interface GetItemOutput {
  Item?: Item
}

export interface PutItemInput extends Conditional {
  TableName: string
  Item: Item
  ReturnValues?: 'NONE' | 'ALL_OLD'
}

export interface UpdateItemInput extends Conditional {
  TableName: string
  Key: Item
  UpdateExpression?: string
  ReturnValues?: 'NONE' | 'ALL_OLD' | 'UPDATED_OLD' | 'ALL_NEW' | 'UPDATED_NEW'
}

export interface DeleteItemInput extends Conditional {
  TableName: string
  Key: Item
  ReturnValues?: 'NONE' | 'ALL_OLD'
}

export interface WriteOutput {
  Attributes?: Item
}

interface PageInput extends Placeholders {
  TableName: string
  IndexName?: string
  FilterExpression?: string
  ProjectionExpression?: string
  ConsistentRead?: boolean
  Limit?: number
  ExclusiveStartKey?: Item
  Select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES' | 'COUNT'
}

export interface QueryInput extends PageInput {
  KeyConditionExpression: string
  ScanIndexForward?: boolean
}

export interface ScanInput extends PageInput {
  Segment?: number
  TotalSegments?: number
}

export interface PageOutput {
  Items?: Item[]
  Count?: number
  ScannedCount?: number
  LastEvaluatedKey?: Item
}

export interface KeysAndAttributes {
  Keys: Item[]
  ConsistentRead?: boolean
  ProjectionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
}

export interface BatchGetItemInput {
  RequestItems: Record<string, KeysAndAttributes>
}

export interface BatchGetItemOutput {
  Responses?: Record<string, Item[]>
  UnprocessedKeys?: Record<string, KeysAndAttributes>
}

export interface WriteRequest {
  PutRequest?: { Item: Item }
  DeleteRequest?: { Key: Item }
}

export interface BatchWriteItemInput {
  RequestItems: Record<string, WriteRequest[]>
}

export interface BatchWriteItemOutput {
  UnprocessedItems?: Record<string, WriteRequest[]>
}

export interface TransactGetItemsInput {
  TransactItems: { Get: Omit<GetItemInput, 'ConsistentRead'> }[]
}

export interface TransactGetItemsOutput {
  Responses?: { Item?: Item }[]
}

export interface TransactWriteItem {
  Put?: Omit<PutItemInput, 'ReturnValues'>
  Update?: Omit<UpdateItemInput, 'ReturnValues' | 'UpdateExpression'> & { UpdateExpression: string }
  Delete?: Omit<DeleteItemInput, 'ReturnValues'>
  ConditionCheck?: Omit<DeleteItemInput, 'ReturnValues' | 'ConditionExpression'> & {
    ConditionExpression: string
  }
}

export interface TransactWriteItemsInput {
  TransactItems: TransactWriteItem[]
  ClientRequestToken?: string
}

export type TransactWriteItemsOutput = object

export interface TableInput {
  TableName: string
}

export interface KeySchemaElement {
  AttributeName: string
  KeyType: 'HASH' | 'RANGE'
}

export interface IndexProjection {
  ProjectionType: 'ALL' | 'KEYS_ONLY' | 'INCLUDE'
  NonKeyAttributes?: string[]
}

export interface GlobalSecondaryIndex {
  IndexName: string
  KeySchema: KeySchemaElement[]
  Projection: IndexProjection
}

export interface CreateTableInput {
  TableName: string
  AttributeDefinitions: { AttributeName: string; AttributeType: 'S' | 'N' | 'B' }[]
  KeySchema: KeySchemaElement[]
  BillingMode: 'PAY_PER_REQUEST'
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[]
  StreamSpecification?: {
    StreamEnabled: true
    StreamViewType: 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'
  }
  Tags?: { Key: string; Value: string }[]
  /** Only for the embedded store. */
  SecureDeleteEnabled?: true
}

export interface UpdateTableInput {
  TableName: string
  SecureDeleteEnabled: true
}

/** Every part is optional, as in AWS's own types. */
export interface TableDescription {
  TableName?: string
  TableStatus?: string
  /** DynamoDB updates these two about every six hours. */
  TableSizeBytes?: number
  ItemCount?: number
  TableArn?: string
  AttributeDefinitions?: { AttributeName?: string; AttributeType?: string }[]
  KeySchema?: { AttributeName?: string; KeyType?: string }[]
  BillingModeSummary?: { BillingMode?: string }
  /** Only from the embedded store. */
  SecureDeleteEnabled?: boolean
  GlobalSecondaryIndexes?: {
    IndexName?: string
    IndexStatus?: string
    KeySchema?: { AttributeName?: string; KeyType?: string }[]
    Projection?: { ProjectionType?: string; NonKeyAttributes?: string[] }
  }[]
}

export interface UpdateTimeToLiveInput {
  TableName: string
  TimeToLiveSpecification: { AttributeName: string; Enabled: boolean }
}

export interface DescribeTimeToLiveOutput {
  TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string }
}

export interface UpdateContinuousBackupsInput {
  TableName: string
  PointInTimeRecoverySpecification: {
    PointInTimeRecoveryEnabled: boolean
    RecoveryPeriodInDays?: number
  }
}

export interface DescribeContinuousBackupsOutput {
  ContinuousBackupsDescription?: {
    PointInTimeRecoveryDescription?: {
      PointInTimeRecoveryStatus?: string
      RecoveryPeriodInDays?: number
      /** Seconds since the epoch, or a Date of the AWS SDK. */
      EarliestRestorableDateTime?: number | Date
    }
  }
}
