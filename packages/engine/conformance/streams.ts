/** Streams: what is in them, in which order, from where they can be read, and what is refused. */
import {
  BatchWriteItemCommand,
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteItemCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  PutItemCommand,
  type StreamViewType,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  becomesActive,
  eventually,
  expectRefusal,
  failure,
  freshName,
  type Item,
  refuses,
  tableInput,
  testUnless,
} from './harness.ts'
import { type Event, type Page, streamRequests } from './stream-requests.ts'
import { expected, type Target } from './target.ts'

export function streams(target: Target): void {
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

  describe('streams', () => {
    const images: Record<StreamViewType, (keyof Event['dynamodb'])[][]> = {
      KEYS_ONLY: [[], [], []],
      NEW_IMAGE: [['NewImage'], ['NewImage'], []],
      OLD_IMAGE: [[], ['OldImage'], ['OldImage']],
      NEW_AND_OLD_IMAGES: [['NewImage'], ['NewImage', 'OldImage'], ['OldImage']],
    }
    for (const [view, wanted] of Object.entries(images) as [StreamViewType, string[][]][]) {
      describe(`with the view ${view}`, () => {
        const { table, arn } = useStream(view)

        test('have the images of that view, and always the key', async () => {
          await put(table, { ...key, n: { N: '1' } })
          await increment(table)
          await remove(table)
          const events = await read(arn())
          expect(names(events)).toEqual(['INSERT', 'MODIFY', 'REMOVE'])
          const one = { ...key, n: { N: '1' } }
          const two = { ...key, n: { N: '2' } }
          const all = [{ NewImage: one }, { NewImage: two, OldImage: one }, { OldImage: two }]
          for (const [at, { dynamodb }] of events.entries()) {
            expect(dynamodb.Keys).toEqual(key)
            expect(dynamodb.StreamViewType).toBe(view)
            for (const image of ['NewImage', 'OldImage'] as const) {
              const there = wanted[at]?.includes(image)
              const full = (all[at] as Record<string, Item>)[image]
              expect(dynamodb[image], `${image} of ${at}`).toEqual(there ? full : undefined)
            }
          }
        })
      })
    }

    describe('records', () => {
      const { table, arn } = useStream('NEW_AND_OLD_IMAGES')

      test('say what, where, when, and how large it is', async () => {
        await put(table, { ...key, n: { N: '1' } })
        const [event] = await read(arn())
        expect(event).toMatchObject({
          eventName: 'INSERT',
          eventVersion: '1.1',
          eventSource: 'aws:dynamodb',
        })
        expect(event?.eventID).toMatch(/^[0-9a-f-]{32,36}$/)
        expect(event?.awsRegion).toEqual(expect.any(String))
        const { SizeBytes, ApproximateCreationDateTime, SequenceNumber } = event!.dynamodb
        // pk and sk with their names, twice, and n.
        expect(SizeBytes).toBe(2 * (3 + 4) + 3)
        expect(Math.abs(ApproximateCreationDateTime - Date.now() / 1000)).toBeLessThan(120)
        expect(SequenceNumber).toMatch(/^\d{21,40}$/)
        expect(event?.userIdentity).toBeUndefined()
      })

      test('are not written by writes that change nothing', async () => {
        await put(table, { ...key, n: { N: '1' } })
        await put(table, { ...key, n: { N: '1.0' } })
        await remove(table, { pk: { S: 'nobody' }, sk: { N: '1' } })
        await client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: key,
            UpdateExpression: 'SET n = :n',
            ExpressionAttributeValues: { ':n': { N: '1' } },
          }),
        )
        expect(await read(arn())).toHaveLength(1)
      })

      test('are not written by writes that are refused', async () => {
        const condition = { ConditionExpression: 'attribute_not_exists(pk)' }
        await failure(
          client.send(new PutItemCommand({ TableName: table, Item: { ...key }, ...condition })),
        )
        await failure(
          client.send(
            new TransactWriteItemsCommand({
              TransactItems: [
                { Put: { TableName: table, Item: { pk: { S: 'other' }, sk: { N: '1' } } } },
                { Put: { TableName: table, Item: { ...key }, ...condition } },
              ],
            }),
          ),
        )
        expect(await read(arn())).toHaveLength(1)
      })

      test('come from batches and transactions too, one for each item', async () => {
        const item = (pk: string): Item => ({ pk: { S: pk }, sk: { N: '1' } })
        const before = (await read(arn())).length
        await client.send(
          new BatchWriteItemCommand({
            RequestItems: {
              [table]: [{ PutRequest: { Item: item('b1') } }, { PutRequest: { Item: item('b2') } }],
            },
          }),
        )
        await client.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Put: { TableName: table, Item: item('t1') } },
              { Delete: { TableName: table, Key: item('b1') } },
            ],
          }),
        )
        const events = (await read(arn())).slice(before)
        const seen = events.map(
          ({ eventName, dynamodb }) => `${eventName} ${dynamodb.Keys['pk']?.S}`,
        )
        expect(seen.slice(0, 2).toSorted()).toEqual(['INSERT b1', 'INSERT b2'])
        expect(seen.slice(2).toSorted()).toEqual(['INSERT t1', 'REMOVE b1'])
      })

      test('of one item come in the order of its writes', async () => {
        const counter: Item = { pk: { S: 'counter' }, sk: { N: '1' } }
        await Promise.all(Array.from({ length: 20 }, () => increment(table, counter)))
        const events = (await read(arn())).filter(
          ({ dynamodb }) => dynamodb.Keys['pk']?.S === 'counter',
        )
        const values = events.map(({ dynamodb }) => Number(dynamodb.NewImage?.['n']?.N))
        expect(values).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
        const numbers = events.map(({ dynamodb }) => dynamodb.SequenceNumber)
        expect(numbers).toEqual(numbers.toSorted())
      })
    })

    describe('can be read', () => {
      const { table, arn } = useStream('KEYS_ONLY')
      const item = (n: number): Item => ({ pk: { S: 'x' }, sk: { N: `${n}` } })
      const order = (events: Event[]) => events.map(({ dynamodb }) => dynamodb.Keys['sk']?.N)
      beforeAll(async () => {
        for (const n of [1, 2, 3, 4, 5]) await put(table, item(n))
      })

      test('from the start, a page at a time', async () => {
        let ShardIterator: string | undefined = await iteratorOf(arn())
        const pages: (string | undefined)[][] = []
        for (let at = 0; at < 4 && ShardIterator; at++) {
          const page: Page = await ask('GetRecords', { ShardIterator, Limit: 2 })
          pages.push(order(page.Records))
          ShardIterator = page.NextShardIterator
        }
        expect(pages).toEqual([['1', '2'], ['3', '4'], ['5'], []])
        expect(ShardIterator).toEqual(expect.any(String))
      })

      test('from a sequence number, or from after it', async () => {
        const third = (await read(arn()))[2]!.dynamodb.SequenceNumber
        const how = (ShardIteratorType: string) => ({ ShardIteratorType, SequenceNumber: third })
        expect(order(await read(arn(), how('AT_SEQUENCE_NUMBER')))).toEqual(['3', '4', '5'])
        expect(order(await read(arn(), how('AFTER_SEQUENCE_NUMBER')))).toEqual(['4', '5'])
      })

      test('from now on', async () => {
        const ShardIterator = await iteratorOf(arn(), { ShardIteratorType: 'LATEST' })
        const before = await ask('GetRecords', { ShardIterator })
        expect(before.Records).toEqual([])
        await put(table, item(6))
        const after = await ask('GetRecords', { ShardIterator: before.NextShardIterator })
        expect(order(after.Records)).toEqual(['6'])
      })
    })

    describe('of a table', () => {
      const table = freshName()
      const update = (StreamSpecification: object) =>
        client.send(
          new UpdateTableCommand({
            TableName: table,
            StreamSpecification: StreamSpecification as { StreamEnabled: boolean },
          }),
        )
      const switchTo = async (StreamSpecification: object) => {
        const { TableDescription } = await update(StreamSpecification)
        await becomesActive(client, table)
        return TableDescription?.LatestStreamArn ?? ''
      }
      const on = { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' }
      const off = { StreamEnabled: false }
      let first = ''
      let second = ''
      beforeAll(async () => {
        await client.send(
          new CreateTableCommand({
            ...tableInput(table, { key: { pk: 'S', sk: 'N' } }),
            StreamSpecification: off,
          }),
        )
        await becomesActive(client, table)
      })

      test('is off at first, and then there is no stream', async () => {
        const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
        expect(Table?.StreamSpecification).toBeUndefined()
        expect(Table?.LatestStreamArn).toBeUndefined()
        expect((await ask('ListStreams', { TableName: table })).Streams).toEqual([])
      })

      test('can be switched on, and has what is written from then on', async () => {
        await put(table, key)
        first = await switchTo(on)
        await put(table, { ...key, n: { N: '1' } })
        const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
        expect(Table?.StreamSpecification).toEqual(on)
        expect(Table?.LatestStreamArn).toBe(first)
        expect(first).toBe(`${Table?.TableArn}/stream/${Table?.LatestStreamLabel}`)
        expect(names(await read(first))).toEqual(['MODIFY'])
      })

      test('is described with its table, its key, and one open shard', async () => {
        const description = await describeStream(first)
        expect(description).toMatchObject({
          StreamArn: first,
          StreamStatus: 'ENABLED',
          StreamViewType: 'NEW_IMAGE',
          TableName: table,
          KeySchema: [
            { AttributeName: 'pk', KeyType: 'HASH' },
            { AttributeName: 'sk', KeyType: 'RANGE' },
          ],
        })
        expect(first.endsWith(description.StreamLabel)).toBe(true)
        expect(description.Shards).toHaveLength(1)
        const [shard] = description.Shards
        expect(shard?.SequenceNumberRange.StartingSequenceNumber).toMatch(/^\d{21,40}$/)
        expect(shard?.SequenceNumberRange.EndingSequenceNumber).toBeUndefined()
        const { StreamDescription } = await ask('DescribeStream', {
          StreamArn: first,
          ExclusiveStartShardId: shard?.ShardId,
        })
        expect(StreamDescription.Shards).toEqual([])
      })

      test('cannot be switched on twice', async () => {
        await expectRefusal(update(on), {
          message: expected(
            target,
            'stream-texts',
            `Table already has an enabled stream: TableName: ${table}`,
            'Table already has an enabled stream',
          ),
        })
      })

      test('can be switched off, and read to its end', async () => {
        const ShardIterator = await iteratorOf(first)
        await switchTo(off)
        await put(table, { ...key, n: { N: '2' } })
        const { Table } = await client.send(new DescribeTableCommand({ TableName: table }))
        expect(Table?.StreamSpecification).toBeUndefined()
        expect(Table?.LatestStreamArn).toBe(first)
        const description = await describeStream(first)
        expect(description.StreamStatus).toBe('DISABLED')
        expect(description.Shards[0]?.SequenceNumberRange.EndingSequenceNumber).toBeDefined()
        const { Records, NextShardIterator } = await ask('GetRecords', { ShardIterator })
        expect(names(Records)).toEqual(['MODIFY'])
        expect(NextShardIterator).toBeUndefined()
      })

      test('cannot be switched off twice', async () => {
        await expectRefusal(update(off), {
          message: expected(
            target,
            'stream-texts',
            `Table has no stream to disable: TableName: ${table}`,
            'Table has no stream to disable',
          ),
        })
      })

      test('is another one when it is switched on again', async () => {
        second = await switchTo({ StreamEnabled: true, StreamViewType: 'KEYS_ONLY' })
        expect(second).not.toBe(first)
        await remove(table)
        expect(names(await read(second))).toEqual(['REMOVE'])
        expect(names(await read(first))).toEqual(['MODIFY'])
      })

      test('is listed, with those before it', async () => {
        const { Streams } = await ask('ListStreams', { TableName: table })
        expect(Streams.map(({ StreamArn }) => StreamArn).toSorted()).toEqual([first, second])
        expect(Streams.every(({ TableName }) => TableName === table)).toBe(true)
        const page = await ask('ListStreams', { TableName: table, Limit: 1 })
        expect(page.Streams).toHaveLength(1)
        expect(page.LastEvaluatedStreamArn).toBe(page.Streams[0]?.StreamArn)
        const rest = await ask('ListStreams', {
          TableName: table,
          ExclusiveStartStreamArn: page.LastEvaluatedStreamArn,
        })
        expect(
          [...page.Streams, ...rest.Streams].map(({ StreamArn }) => StreamArn).toSorted(),
        ).toEqual([first, second])
        expect(rest.LastEvaluatedStreamArn).toBeUndefined()
      })

      test('can be read after the table is gone', async () => {
        await client.send(new DeleteTableCommand({ TableName: table }))
        await eventually(async () => (await describeStream(second)).StreamStatus === 'DISABLED')
        const ShardIterator = await iteratorOf(second)
        const { Records, NextShardIterator } = await ask('GetRecords', { ShardIterator })
        expect(names(Records)).toEqual(['REMOVE'])
        expect(NextShardIterator).toBeUndefined()
      })
    })

    describe('of items that expire', () => {
      const { table, arn } = useStream('OLD_IMAGE')

      testUnless(target, 'expiry-in-streams', 'name the service as who deleted them', async () => {
        await client.send(
          new UpdateTimeToLiveCommand({
            TableName: table,
            TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' },
          }),
        )
        const expired = { ...key, expires: { N: `${Math.floor(Date.now() / 1000) - 60}` } }
        await put(table, expired)
        await eventually(async () => (await read(arn())).length === 2)
        const [, event] = await read(arn())
        expect(event?.eventName).toBe('REMOVE')
        expect(event?.userIdentity).toEqual({
          PrincipalId: 'dynamodb.amazonaws.com',
          Type: 'Service',
        })
        expect(event?.dynamodb.OldImage).toEqual(expired)
      })
    })

    describe('refuse', () => {
      const { table, arn } = useStream('KEYS_ONLY')
      const other =
        'arn:aws:dynamodb:us-east-1:000000000000:table/nowhere/stream/2026-01-01T00:00:00.000'

      test('a stream that does not exist', async () => {
        const refusal = {
          name: 'ResourceNotFoundException',
          message: `Requested resource not found: Stream: ${other} not found`,
        }
        await expectRefusal(describeStream(other), refusal)
      })

      test('a shard that does not exist', async () => {
        const ShardId = 'shardId-00000000000000000000-00000000'
        await expectRefusal(iteratorOf(arn(), { ShardId }), {
          name: 'ResourceNotFoundException',
          message: expected(
            target,
            'stream-texts',
            `Requested resource not found: Shard: ${ShardId} in Stream: ${arn()} not found`,
            'Shard does not exist',
          ),
        })
      })

      test('a sequence number where none belongs, and none where one does', async () => {
        const SequenceNumber = '0'.repeat(21)
        await expectRefusal(iteratorOf(arn(), { ShardIteratorType: 'LATEST', SequenceNumber }), {
          message:
            'One or more parameter values were invalid: SequenceNumber should not be passed for this iterator type',
        })
        await expectRefusal(iteratorOf(arn(), { ShardIteratorType: 'AT_SEQUENCE_NUMBER' }), {
          message: 'One or more parameter values were invalid: Invalid SequenceNumber',
        })
      })

      test('a sequence number from before the stream', async () => {
        const SequenceNumber = '0'.repeat(21)
        const how = { ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber }
        await put(table, key)
        await expectRefusal(iteratorOf(arn(), how), {
          message: 'Invalid SequenceNumber for the shard',
        })
      })

      testUnless(target, 'stream-parameters', 'an unknown kind of iterator', async () => {
        await expectRefusal(iteratorOf(arn(), { ShardIteratorType: 'SOMEWHERE' }), {
          message:
            "1 validation error detected: Value 'SOMEWHERE' at 'shardIteratorType' failed to satisfy constraint: Member must satisfy enum value set: [AFTER_SEQUENCE_NUMBER, LATEST, AT_SEQUENCE_NUMBER, TRIM_HORIZON]",
        })
      })

      test('what is no iterator', async () => {
        await expectRefusal(ask('GetRecords', { ShardIterator: 'nonsense' }), {
          message: 'Invalid ShardIterator',
        })
        await expectRefusal(ask('GetRecords', { ShardIterator: `${arn()}|1|!` }), {
          message: 'Invalid ShardIterator',
        })
      })

      testUnless(target, 'stream-parameters', 'more than a thousand records', async () => {
        await expectRefusal(ask('GetRecords', { ShardIterator: 'nonsense', Limit: 1001 }), {
          message:
            "1 validation error detected: Value '1001' at 'limit' failed to satisfy constraint: Member must have value less than or equal to 1000",
        })
      })

      if (target.kind !== 'db') {
        test('to be asked for as if they were tables', async () => {
          const wrong = streamRequests(target, 'DynamoDB_20120810')
          expect((await failure(wrong('ListStreams', {}))).name).toBe('UnknownOperationException')
        })
      }

      describe('in CreateTable', () => {
        const common = tableInput(freshName(), { key: { pk: 'S' } })
        refuses(target, CreateTableCommand, common, [
          [
            'a stream without a view',
            { StreamSpecification: { StreamEnabled: true } },
            'One or more parameter values were invalid: Table is being created with a stream enabled, UpdateViewType is required',
            'stream-texts',
          ],
          [
            'a view without a stream',
            { StreamSpecification: { StreamEnabled: false, StreamViewType: 'NEW_IMAGE' } },
            'One or more parameter values were invalid: Table is being created with a stream disabled, UpdateViewType should not be specified',
            'stream-texts',
          ],
        ])
      })

      describe('in UpdateTable', () => {
        refuses(target, UpdateTableCommand, { TableName: table }, [
          [
            'a stream without a view',
            { StreamSpecification: { StreamEnabled: true } },
            'One or more parameter values were invalid: If stream is being enabled then UpdateViewType is required',
            'stream-texts',
          ],
          [
            'a view without a stream',
            { StreamSpecification: { StreamEnabled: false, StreamViewType: 'NEW_IMAGE' } },
            'One or more parameter values were invalid: If stream is being disabled, then UpdateViewType must not be specified',
            'stream-texts',
          ],
        ])
      })
    })
  })
}
