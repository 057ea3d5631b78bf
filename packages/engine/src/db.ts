/**
 * The in-process face: DynamoDB's own operations, inputs and outputs, with plain JavaScript values
 * instead of typed attribute values. Errors have AWS's names (`error.name`), see `errors.ts`.
 *
 * `Db` has the operations that programs use regularly; `TableAdmin` has the other table operations. Only
 * parameters that have an effect are declared.
 */
import type { Item, Value } from './values/types.ts'

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
  deleteTable(input: TableInput): Promise<{ TableDescription?: TableDescription }>
  updateTimeToLive(input: UpdateTimeToLiveInput): Promise<object>
  describeTimeToLive(input: TableInput): Promise<DescribeTimeToLiveOutput>
  updateContinuousBackups(input: UpdateContinuousBackupsInput): Promise<object>
  describeContinuousBackups(input: TableInput): Promise<DescribeContinuousBackupsOutput>
}

export interface TableAdmin {
  listTables(input: ListTablesInput): Promise<ListTablesOutput>
  updateTable(input: UpdateTableInput): Promise<{ TableDescription?: TableDescription }>
  tagResource(input: TagResourceInput): Promise<object>
  untagResource(input: UntagResourceInput): Promise<object>
  listTagsOfResource(input: ListTagsOfResourceInput): Promise<ListTagsOfResourceOutput>
  describeLimits(input?: object): Promise<DescribeLimitsOutput>
  describeEndpoints(input?: object): Promise<DescribeEndpointsOutput>
}

interface Metered {
  ReturnConsumedCapacity?: 'NONE' | 'TOTAL' | 'INDEXES'
}

interface MeteredWrite extends Metered {
  ReturnItemCollectionMetrics?: 'NONE' | 'SIZE'
}

export interface Capacity {
  CapacityUnits?: number
  ReadCapacityUnits?: number
  WriteCapacityUnits?: number
}

export interface ConsumedCapacity extends Capacity {
  TableName?: string
  Table?: Capacity
  GlobalSecondaryIndexes?: Record<string, Capacity>
  LocalSecondaryIndexes?: Record<string, Capacity>
}

/** Only for tables with a local secondary index. The size is an estimate in AWS, and constant here. */
export interface ItemCollectionMetrics {
  ItemCollectionKey?: Item
  SizeEstimateRangeGB?: number[]
}

/** The names and values of the placeholders in expressions. */
interface Placeholders {
  ExpressionAttributeNames?: Record<string, string>
  ExpressionAttributeValues?: Record<string, Value>
}

/** A legacy comparison, replaced by expressions. */
export interface Comparison {
  ComparisonOperator:
    | 'EQ'
    | 'NE'
    | 'LT'
    | 'LE'
    | 'GT'
    | 'GE'
    | 'IN'
    | 'BETWEEN'
    | 'BEGINS_WITH'
    | 'CONTAINS'
    | 'NOT_CONTAINS'
    | 'NULL'
    | 'NOT_NULL'
  AttributeValueList?: Value[]
}

export interface Expectation extends Partial<Comparison> {
  Exists?: boolean
  Value?: Value
}

export interface AttributeUpdate {
  /** Default PUT. */
  Action?: 'PUT' | 'ADD' | 'DELETE'
  Value?: Value
}

/** The legacy form of ConditionExpression. */
interface LegacyConditional {
  Expected?: Record<string, Expectation>
  ConditionalOperator?: 'AND' | 'OR'
}

interface Conditional extends Placeholders {
  ConditionExpression?: string
  ReturnValuesOnConditionCheckFailure?: 'NONE' | 'ALL_OLD'
}

interface GetInput {
  TableName: string
  Key: Item
  ProjectionExpression?: string
  ExpressionAttributeNames?: Record<string, string>
}

export interface GetItemInput extends GetInput, Metered {
  AttributesToGet?: string[]
  ConsistentRead?: boolean
}

export interface GetItemOutput {
  Item?: Item
  ConsumedCapacity?: ConsumedCapacity
}

interface PutInput extends Conditional {
  TableName: string
  Item: Item
}

interface KeyedInput extends Conditional {
  TableName: string
  Key: Item
}

export interface PutItemInput extends PutInput, LegacyConditional, MeteredWrite {
  ReturnValues?: 'NONE' | 'ALL_OLD'
}

export interface UpdateItemInput extends KeyedInput, LegacyConditional, MeteredWrite {
  AttributeUpdates?: Record<string, AttributeUpdate>
  UpdateExpression?: string
  ReturnValues?: 'NONE' | 'ALL_OLD' | 'UPDATED_OLD' | 'ALL_NEW' | 'UPDATED_NEW'
}

export interface DeleteItemInput extends KeyedInput, LegacyConditional, MeteredWrite {
  ReturnValues?: 'NONE' | 'ALL_OLD'
}

export interface WriteOutput {
  Attributes?: Item
  ConsumedCapacity?: ConsumedCapacity
  ItemCollectionMetrics?: ItemCollectionMetrics
}

export interface PageInput extends Placeholders, Metered {
  TableName: string
  IndexName?: string
  FilterExpression?: string
  ProjectionExpression?: string
  AttributesToGet?: string[]
  ConditionalOperator?: 'AND' | 'OR'
  ConsistentRead?: boolean
  Limit?: number
  ExclusiveStartKey?: Item
  Select?: 'ALL_ATTRIBUTES' | 'ALL_PROJECTED_ATTRIBUTES' | 'SPECIFIC_ATTRIBUTES' | 'COUNT'
}

export interface QueryInput extends PageInput {
  /** Required, unless KeyConditions is present. */
  KeyConditionExpression?: string
  KeyConditions?: Record<string, Comparison>
  QueryFilter?: Record<string, Comparison>
  ScanIndexForward?: boolean
}

export interface ScanInput extends PageInput {
  ScanFilter?: Record<string, Comparison>
  Segment?: number
  TotalSegments?: number
}

export interface PageOutput {
  Items?: Item[]
  Count?: number
  ScannedCount?: number
  LastEvaluatedKey?: Item
  ConsumedCapacity?: ConsumedCapacity
}

export interface KeysAndAttributes {
  Keys: Item[]
  ConsistentRead?: boolean
  ProjectionExpression?: string
  AttributesToGet?: string[]
  ExpressionAttributeNames?: Record<string, string>
}

export interface BatchGetItemInput extends Metered {
  RequestItems: Record<string, KeysAndAttributes>
}

export interface BatchGetItemOutput {
  Responses?: Record<string, Item[]>
  UnprocessedKeys?: Record<string, KeysAndAttributes>
  ConsumedCapacity?: ConsumedCapacity[]
}

export interface WriteRequest {
  PutRequest?: { Item: Item }
  DeleteRequest?: { Key: Item }
}

export interface BatchWriteItemInput extends MeteredWrite {
  RequestItems: Record<string, WriteRequest[]>
}

export interface BatchWriteItemOutput {
  UnprocessedItems?: Record<string, WriteRequest[]>
  ConsumedCapacity?: ConsumedCapacity[]
  ItemCollectionMetrics?: Record<string, ItemCollectionMetrics[]>
}

export interface TransactGetItemsInput extends Metered {
  TransactItems: { Get: GetInput }[]
}

export interface TransactGetItemsOutput {
  Responses?: { Item?: Item }[]
  ConsumedCapacity?: ConsumedCapacity[]
}

export interface TransactWriteItem {
  Put?: PutInput
  Update?: KeyedInput & { UpdateExpression: string }
  Delete?: KeyedInput
  ConditionCheck?: Omit<KeyedInput, 'ConditionExpression'> & { ConditionExpression: string }
}

export interface TransactWriteItemsInput extends MeteredWrite {
  TransactItems: TransactWriteItem[]
  ClientRequestToken?: string
}

export type TransactWriteItemsOutput = object & {
  ConsumedCapacity?: ConsumedCapacity[]
  ItemCollectionMetrics?: Record<string, ItemCollectionMetrics[]>
}

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

export interface Throughput {
  ReadCapacityUnits: number
  WriteCapacityUnits: number
}

export interface LocalSecondaryIndex {
  IndexName: string
  KeySchema: KeySchemaElement[]
  Projection: IndexProjection
}

export interface GlobalSecondaryIndex extends LocalSecondaryIndex {
  ProvisionedThroughput?: Throughput
}

export interface AttributeDefinition {
  AttributeName: string
  AttributeType: 'S' | 'N' | 'B'
}

export interface Tag {
  Key: string
  Value: string
}

export interface StreamSpecification {
  StreamEnabled: boolean
  StreamViewType?: 'KEYS_ONLY' | 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES'
}

export interface CreateTableInput {
  TableName: string
  AttributeDefinitions: AttributeDefinition[]
  KeySchema: KeySchemaElement[]
  BillingMode?: 'PAY_PER_REQUEST' | 'PROVISIONED'
  ProvisionedThroughput?: Throughput
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[]
  LocalSecondaryIndexes?: LocalSecondaryIndex[]
  StreamSpecification?: StreamSpecification
  DeletionProtectionEnabled?: boolean
  /** Not in AWS: what a write replaces or deletes cannot be recovered from the data directory. */
  SecureDeleteEnabled?: boolean
  TableClass?: 'STANDARD' | 'STANDARD_INFREQUENT_ACCESS'
  Tags?: Tag[]
}

export interface UpdateTableInput {
  TableName: string
  AttributeDefinitions?: AttributeDefinition[]
  BillingMode?: 'PAY_PER_REQUEST' | 'PROVISIONED'
  ProvisionedThroughput?: Throughput
  GlobalSecondaryIndexUpdates?: {
    Create?: GlobalSecondaryIndex
    Update?: { IndexName: string; ProvisionedThroughput?: Throughput }
    Delete?: { IndexName: string }
  }[]
  StreamSpecification?: StreamSpecification
  DeletionProtectionEnabled?: boolean
  /** Not in AWS: what a write replaces or deletes cannot be recovered from the data directory. */
  SecureDeleteEnabled?: boolean
  TableClass?: 'STANDARD' | 'STANDARD_INFREQUENT_ACCESS'
}

export interface ThroughputDescription extends Partial<Throughput> {
  NumberOfDecreasesToday?: number
}

/** The description of a table; all members are optional, as in AWS's types. */
export interface TableDescription {
  TableName?: string
  TableStatus?: string
  TableArn?: string
  TableId?: string
  /** Epoch seconds, with milliseconds as a fraction. */
  CreationDateTime?: number
  ItemCount?: number
  TableSizeBytes?: number
  AttributeDefinitions?: { AttributeName?: string; AttributeType?: string }[]
  KeySchema?: { AttributeName?: string; KeyType?: string }[]
  BillingModeSummary?: { BillingMode?: string; LastUpdateToPayPerRequestDateTime?: number }
  ProvisionedThroughput?: ThroughputDescription
  TableClassSummary?: { TableClass?: string }
  DeletionProtectionEnabled?: boolean
  /** Not in AWS; only present if it is enabled. */
  SecureDeleteEnabled?: boolean
  GlobalSecondaryIndexes?: (IndexDescription & {
    IndexStatus?: string
    Backfilling?: boolean
    ProvisionedThroughput?: ThroughputDescription
  })[]
  LocalSecondaryIndexes?: IndexDescription[]
  StreamSpecification?: StreamSpecification
  LatestStreamLabel?: string
  LatestStreamArn?: string
  RestoreSummary?: {
    SourceBackupArn?: string
    SourceTableArn?: string
    RestoreDateTime?: number
    RestoreInProgress?: boolean
  }
}

export interface IndexDescription {
  IndexName?: string
  IndexArn?: string
  ItemCount?: number
  IndexSizeBytes?: number
  KeySchema?: { AttributeName?: string; KeyType?: string }[]
  Projection?: { ProjectionType?: string; NonKeyAttributes?: string[] }
}

export interface ListTablesInput {
  ExclusiveStartTableName?: string
  Limit?: number
}

export interface ListTablesOutput {
  TableNames?: string[]
  LastEvaluatedTableName?: string
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
    ContinuousBackupsStatus?: string
    PointInTimeRecoveryDescription?: {
      PointInTimeRecoveryStatus?: string
      RecoveryPeriodInDays?: number
      EarliestRestorableDateTime?: number
      LatestRestorableDateTime?: number
    }
  }
}

export interface TagResourceInput {
  ResourceArn: string
  Tags: Tag[]
}

export interface UntagResourceInput {
  ResourceArn: string
  TagKeys: string[]
}

export interface ListTagsOfResourceInput {
  ResourceArn: string
  NextToken?: string
}

export interface ListTagsOfResourceOutput {
  Tags?: Tag[]
  NextToken?: string
}

export interface DescribeLimitsOutput {
  AccountMaxReadCapacityUnits?: number
  AccountMaxWriteCapacityUnits?: number
  TableMaxReadCapacityUnits?: number
  TableMaxWriteCapacityUnits?: number
}

export interface DescribeEndpointsOutput {
  Endpoints?: { Address?: string; CachePeriodInMinutes?: number }[]
}
