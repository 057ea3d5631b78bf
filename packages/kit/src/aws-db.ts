/**
 * Db over the AWS SDK: real DynamoDB, or anything that speaks its protocol behind an endpoint.
 *
 * Differs from a plain document client in what `Db` promises: numbers keep all their digits,
 * `undefined` is rejected, and items inside errors are plain values too (the document client leaves
 * them marshalled).
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
  NumberValue as SdkNumber,
  PutCommand,
  QueryCommand,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  UpdateCommand,
} from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { accessDenied } from './access-denied.ts'
import type { Db, Item } from './db.ts'
import { numberFromText } from './number-value.ts'

export interface AwsDb extends Db {
  /** Fails if the store is unreachable or rejects the credentials. */
  ping(): Promise<void>
  close(): void
}

/** DynamoDB responds in milliseconds. */
const REQUEST_TIMEOUT_MS = 5_000

export function createAwsDb(config: DynamoDBClientConfig): AwsDb {
  return awsDbOf(
    new DynamoDBClient({
      // The SDK would repeat a write whose response was lost: a counter would count twice, and a put
      // that must happen once would fail its condition. `retryingDb` repeats what may be repeated.
      maxAttempts: 1,
      requestHandler: {
        connectionTimeout: 3000,
        requestTimeout: REQUEST_TIMEOUT_MS,
        throwOnRequestTimeout: true,
      },
      ...config,
    }),
  )
}

/** Uses an existing client, with its own retries. */
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
 * Rethrows an error of the SDK with plain values and without the request and response that the SDK
 * attaches, because their headers and signature must not reach a log.
 */
function rethrow(error: SdkFailure): never {
  const { name, message, code, Item, CancellationReasons } = error
  if (name === 'AccessDeniedException') throw accessDenied(message)
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

/** The parameters of operations that hold attribute values. */
const VALUE_PARAMETERS = new Set([
  'Key',
  'Keys',
  'Item',
  'ExpressionAttributeValues',
  'ExclusiveStartKey',
])

/** The input of an operation with every attribute value in a form that the SDK keeps exactly. */
function toSdk(input: unknown): never {
  return parameters(input) as never
}

function parameters(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(parameters)
  if (typeof input !== 'object' || input === null) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      VALUE_PARAMETERS.has(name) && value !== undefined ? outgoing(value) : parameters(value),
    ]),
  )
}

/** An operation's output without the SDK's own metadata. */
function fromSdk<Output>(output: object): Output {
  const { $metadata: _metadata, ...rest } = output as Record<string, unknown>
  return rest as Output
}

function fromAttributeValues(item: object): Item {
  return unmarshall(item as never, { wrapNumbers: numberFromText }) as Item
}

function outgoing(value: unknown): unknown {
  if (typeof value === 'number') return sdkNumber(value)
  if (typeof value !== 'object' || value === null) return requireStorable(value)
  if (value instanceof Uint8Array) return value
  if (value instanceof Set) return new Set([...value].map(outgoing))
  if (Array.isArray(value)) return value.map(outgoing)
  if (isPlain(value)) return outgoingMap(value)
  if ('value' in value && typeof value.value === 'string') return SdkNumber.from(value.value)
  throw new TypeError('Cannot store a class instance: convert it to a plain object first')
}

function outgoingMap(map: object): object {
  const entries = Object.entries(map).map(([name, value]) => {
    // The SDK builds objects by assignment, which would set the prototype instead of a property.
    if (name === '__proto__')
      throw new TypeError('Cannot store an attribute named __proto__ on AWS')
    return [name, outgoing(value)]
  })
  return Object.fromEntries(entries)
}

function sdkNumber(value: number): SdkNumber {
  if (!Number.isFinite(value)) throw new TypeError(`Cannot store the number ${value}`)
  return SdkNumber.from(String(value))
}

function requireStorable(value: unknown): unknown {
  if (value === undefined) throw new TypeError('Cannot store undefined: leave the attribute out')
  if (typeof value === 'bigint' || typeof value === 'function' || typeof value === 'symbol') {
    throw new TypeError(`Cannot store a ${typeof value}`)
  }
  return value
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
