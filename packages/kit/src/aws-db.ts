/**
 * Db over the AWS SDK: real DynamoDB, or anything that speaks its protocol behind an endpoint.
 *
 * Differs from a bare document client in what the seam promises: numbers keep all their digits,
 * `undefined` is refused, and the items inside errors are plain values too (the document client
 * leaves those marshalled).
 */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  ListTablesCommand,
  UpdateContinuousBackupsCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import {
  BatchGetCommand,
  BatchWriteCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { fromAttributeValues, fromSdk, toSdk } from './aws-values.ts'
import type { Db } from './db.ts'
import { numberFromText } from './number-value.ts'

export interface AwsDb extends Db {
  /** Asks the store for an answer, any answer: fails if it is unreachable or refuses us. */
  ping(): Promise<void>
  close(): void
}

/** DynamoDB answers in milliseconds; one that does not in this time will not. */
const ANSWER_MS = 5000

export function createAwsDb(config: DynamoDBClientConfig): AwsDb {
  return awsDbOf(
    new DynamoDBClient({
      // The SDK would repeat a write whose answer got lost: a counter counts twice, and a put that
      // is to happen once is told that it happened already. What may be repeated, retryingDb repeats.
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: 3000,
        requestTimeout: ANSWER_MS,
        throwOnRequestTimeout: true,
      },
      ...config,
    }),
  )
}

/** A client that somebody else made, with the retries that they decided on. */
export function awsDbOf(client: DynamoDBClient): AwsDb {
  const documents = DynamoDBDocumentClient.from(client, {
    unmarshallOptions: { wrapNumbers: numberFromText },
  })

  const item =
    <Input, Output>(Command: new (input: never) => unknown) =>
    async (input: Input): Promise<Output> =>
      fromSdk<Output>(await documents.send(new Command(toSdk(input)) as never).catch(rethrow))
  const table =
    <Input, Output>(Command: new (input: never) => unknown) =>
    async (input: Input): Promise<Output> =>
      fromSdk<Output>(await client.send(new Command(input as never) as never).catch(rethrow))

  return {
    getItem: item(GetCommand),
    putItem: item(PutCommand),
    updateItem: item(UpdateCommand),
    deleteItem: item(DeleteCommand),
    query: item(QueryCommand),
    scan: item(ScanCommand),
    batchGetItem: item(BatchGetCommand),
    batchWriteItem: item(BatchWriteCommand),
    transactGetItems: item(TransactGetCommand),
    transactWriteItems: item(TransactWriteCommand),
    createTable: table(CreateTableCommand),
    describeTable: table(DescribeTableCommand),
    deleteTable: table(DeleteTableCommand),
    updateTimeToLive: table(UpdateTimeToLiveCommand),
    describeTimeToLive: table(DescribeTimeToLiveCommand),
    updateContinuousBackups: table(UpdateContinuousBackupsCommand),
    describeContinuousBackups: table(DescribeContinuousBackupsCommand),
    ping: async () => void (await client.send(new ListTablesCommand({ Limit: 1 })).catch(rethrow)),
    close: () => client.destroy(),
  }
}

interface SdkFailure extends Error {
  code?: string
  Item?: object
  CancellationReasons?: { Code?: string; Message?: string; Item?: object }[]
}

/**
 * What the SDK threw, as an error with plain values and nothing that must not reach a log: the
 * SDK's own carries the whole exchange, with its headers and signature.
 */
function rethrow(error: SdkFailure): never {
  const { name, message, code, Item, CancellationReasons } = error
  throw Object.assign(new Error(message), {
    name,
    ...(code !== undefined && { code }),
    ...(Item && { Item: fromAttributeValues(Item) }),
    ...(CancellationReasons && {
      CancellationReasons: CancellationReasons.map((reason) => ({
        ...reason,
        ...(reason.Item && { Item: fromAttributeValues(reason.Item) }),
      })),
    }),
  })
}
