/** How the stream of a table comes and goes, and what is refused. */
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  becomesActive,
  eventually,
  expectRefusal,
  failure,
  freshName,
  refuses,
  tableInput,
  testUnless,
} from './harness.ts'
import { streamRequests } from './stream-requests.ts'
import { streamTables } from './stream-tables.ts'
import { expected, type Target } from './target.ts'

export function streamLifecycle(target: Target): void {
  const { client } = target
  const { ask, useStream, describeStream, iteratorOf, read, names, key, put, remove } =
    streamTables(target)

  describe('streams', () => {
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

      test('can be read from the start of its shard while that is empty', async () => {
        const empty = freshName()
        const { TableDescription } = await client.send(
          new CreateTableCommand({
            ...tableInput(empty, { key: { pk: 'S', sk: 'N' } }),
            StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
          }),
        )
        await becomesActive(client, empty)
        const arn = TableDescription?.LatestStreamArn ?? ''
        const [shard] = (await describeStream(arn)).Shards
        const SequenceNumber = shard?.SequenceNumberRange.StartingSequenceNumber
        const iterators = [
          await iteratorOf(arn, { ShardIteratorType: 'TRIM_HORIZON' }),
          await iteratorOf(arn, { ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber }),
        ]
        for (const ShardIterator of iterators) {
          expect((await ask('GetRecords', { ShardIterator })).Records).toEqual([])
        }
        await iteratorOf(arn, { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber })
        await put(empty, key)
        for (const ShardIterator of iterators) {
          expect(names((await ask('GetRecords', { ShardIterator })).Records)).toEqual(['INSERT'])
        }
        await client.send(new DeleteTableCommand({ TableName: empty }))
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

      const tooMany = [
        ['GetRecords', 'records', { ShardIterator: 'nonsense' }, 1000],
        ['DescribeStream', 'shards', { StreamArn: other }, 100],
        ['ListStreams', 'streams', {}, 100],
      ] as const
      for (const [operation, what, input, most] of tooMany) {
        testUnless(target, 'stream-parameters', `more than ${most} ${what}`, async () => {
          await expectRefusal(ask(operation, { ...input, Limit: most + 1 }), {
            message: `1 validation error detected: Value '${most + 1}' at 'limit' failed to satisfy constraint: Member must have value less than or equal to ${most}`,
          })
        })
      }

      if (target.kind !== 'db') {
        test('that cannot be used like tables', async () => {
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
