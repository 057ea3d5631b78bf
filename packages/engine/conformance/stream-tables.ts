/** Tables with streams, and reading them, for the suites. */
import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DeleteTableCommand,
  PutItemCommand,
  type StreamViewType,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll } from 'vitest'
import { becomesActive, freshName, type Item, tableInput } from './harness.ts'
import { type Event, streamRequests } from './stream-requests.ts'
import type { Target } from './target.ts'

export function streamTables(target: Target) {
  const { client } = target
  const ask = streamRequests(target)

  const withStream = (name: string, StreamViewType: StreamViewType): CreateTableCommandInput => ({
    ...tableInput(name, { key: { pk: 'S', sk: 'N' } }),
    StreamSpecification: { StreamEnabled: true, StreamViewType },
  })

  /** A table with a stream, and the stream's name, while the tests of the surrounding describe run. */
  function useStream(view: StreamViewType): { table: string; arn: () => string } {
    const table = freshName()
    let arn = ''
    beforeAll(async () => {
      const { TableDescription } = await client.send(
        new CreateTableCommand(withStream(table, view)),
      )
      arn = TableDescription?.LatestStreamArn ?? ''
      await becomesActive(client, table)
    })
    afterAll(async () => {
      await client.send(new DeleteTableCommand({ TableName: table }))
    })
    return { table, arn: () => arn }
  }

  const describeStream = async (StreamArn: string) =>
    (await ask('DescribeStream', { StreamArn })).StreamDescription
  const shardOf = async (arn: string) => (await describeStream(arn)).Shards[0]!.ShardId
  const iteratorOf = async (StreamArn: string, how: object = {}) => {
    const ShardId = await shardOf(StreamArn)
    const request = { StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON', ...how }
    return (await ask('GetShardIterator', request)).ShardIterator
  }
  const read = async (arn: string, how: object = {}): Promise<Event[]> => {
    const { Records } = await ask('GetRecords', { ShardIterator: await iteratorOf(arn, how) })
    return Records
  }
  const names = (events: Event[]) => events.map(({ eventName }) => eventName)

  const key: Item = { pk: { S: 'a' }, sk: { N: '1' } }
  const put = (TableName: string, item: Item) =>
    client.send(new PutItemCommand({ TableName, Item: item }))
  const increment = (TableName: string, Key = key) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key,
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }),
    )
  const remove = (TableName: string, Key = key) =>
    client.send(new DeleteItemCommand({ TableName, Key }))

  return { ask, useStream, describeStream, iteratorOf, read, names, key, put, increment, remove }
}
