/** Streams: what is in them, in which order, and from where they can be read. */
import {
  BatchWriteItemCommand,
  PutItemCommand,
  type StreamViewType,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { eventually, failure, type Item, testUnless } from './harness.ts'
import type { Event, Page } from './stream-requests.ts'
import { streamTables } from './stream-tables.ts'
import type { Target } from './target.ts'

export function streams(target: Target): void {
  const { client } = target
  const { ask, useStream, iteratorOf, read, names, key, put, increment, remove } =
    streamTables(target)

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

      test('describe the change, its table, time and size', async () => {
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
  })
}
