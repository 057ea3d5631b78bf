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
import type { Db, Item } from './db.ts'
import { numberFromText } from './number-value.ts'

export interface AwsDb extends Db {
  /** Asks the store for an answer, any answer: fails if it is unreachable or refuses us. */
  ping(): Promise<void>
  close(): void
}

export function createAwsDb(config: DynamoDBClientConfig): AwsDb {
  const client = new DynamoDBClient(config)
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
      fromSdk<Output>(await client.send(new Command(input as never) as never))

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
    ping: async () => void (await client.send(new ListTablesCommand({ Limit: 1 }))),
    close: () => client.destroy(),
  }
}

/** Turns the marshalled items that DynamoDB puts into its errors into plain ones. */
function rethrow(error: unknown): never {
  if (error instanceof Error) {
    const failure = error as Error & { Item?: Item; CancellationReasons?: { Item?: Item }[] }
    if (failure.Item) failure.Item = fromAttributeValues(failure.Item)
    for (const reason of failure.CancellationReasons ?? []) {
      if (reason.Item) reason.Item = fromAttributeValues(reason.Item)
    }
  }
  throw error
}
