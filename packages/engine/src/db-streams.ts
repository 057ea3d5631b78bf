/**
 * The in-process face of streams: DynamoDB's own inputs and outputs, with plain JavaScript values instead
 * of typed attribute values.
 */
import type { Item } from './values/types.ts'

export interface StreamsDb {
  listStreams(input?: ListStreamsInput): Promise<ListStreamsOutput>
  describeStream(input: DescribeStreamInput): Promise<DescribeStreamOutput>
  getShardIterator(input: GetShardIteratorInput): Promise<{ ShardIterator?: string }>
  getRecords(input: GetRecordsInput): Promise<GetRecordsOutput>
}

export interface ListStreamsInput {
  TableName?: string
  Limit?: number
  ExclusiveStartStreamArn?: string
}

export interface ListStreamsOutput {
  Streams?: { StreamArn?: string; TableName?: string; StreamLabel?: string }[]
  LastEvaluatedStreamArn?: string
}

export interface DescribeStreamInput {
  StreamArn: string
  Limit?: number
  ExclusiveStartShardId?: string
}

export interface DescribeStreamOutput {
  StreamDescription?: {
    StreamArn?: string
    StreamLabel?: string
    StreamStatus?: 'ENABLED' | 'DISABLED'
    StreamViewType?: string
    /** Epoch seconds. */
    CreationRequestDateTime?: number
    TableName?: string
    KeySchema?: { AttributeName?: string; KeyType?: string }[]
    Shards?: {
      ShardId?: string
      SequenceNumberRange?: { StartingSequenceNumber?: string; EndingSequenceNumber?: string }
    }[]
  }
}

export interface GetShardIteratorInput {
  StreamArn: string
  ShardId: string
  ShardIteratorType: 'TRIM_HORIZON' | 'LATEST' | 'AT_SEQUENCE_NUMBER' | 'AFTER_SEQUENCE_NUMBER'
  SequenceNumber?: string
}

export interface GetRecordsInput {
  ShardIterator: string
  Limit?: number
}

export interface GetRecordsOutput {
  Records?: StreamEvent[]
  /** Undefined when a closed stream has been read to its end. */
  NextShardIterator?: string
}

export interface StreamEvent {
  eventID?: string
  eventName?: 'INSERT' | 'MODIFY' | 'REMOVE'
  eventVersion?: string
  eventSource?: string
  awsRegion?: string
  dynamodb?: {
    /** Epoch seconds. */
    ApproximateCreationDateTime?: number
    Keys?: Item
    NewImage?: Item
    OldImage?: Item
    SequenceNumber?: string
    SizeBytes?: number
    StreamViewType?: string
  }
  /** Set for items that were deleted because their time to live had passed. */
  userIdentity?: { PrincipalId?: string; Type?: string }
}
