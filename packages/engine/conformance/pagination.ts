/** Pages: Limit, the one-megabyte page, LastEvaluatedKey and ExclusiveStartKey, on tables and indexes. */
import {
  PutItemCommand,
  type QueryCommandInput,
  QueryCommand,
  type QueryCommandOutput,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Item, refuses, testUnless, text, useTable } from './harness.ts'
import type { Target } from './target.ts'

const startKeyInvalid = 'The provided starting key is invalid'

export function pagination(target: Target): void {
  describe('pages', () => {
    const items = Array.from({ length: 12 }, (_, n): Item => ({
      pk: { S: 'p' },
      sk: { N: `${n}` },
      owner: { S: n % 2 ? 'odd' : 'even' },
      rank: { N: `${Math.floor(n / 4)}` },
    }))
    const table = useTable(
      target,
      {
        key: { pk: 'S', sk: 'N' },
        global: {
          'by-owner': { key: { owner: 'S' } },
          'by-rank': { key: { owner: 'S', rank: 'N' } },
        },
        local: { 'by-time': { key: { pk: 'S', rank: 'N' } } },
      },
      items,
    )
    const page = (input: Partial<QueryCommandInput> = {}): Promise<QueryCommandOutput> =>
      target.client.send(
        new QueryCommand({
          TableName: table,
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
          ...input,
        }),
      )
    const walk = async (input: Partial<QueryCommandInput>): Promise<Item[][]> => {
      const found: Item[][] = []
      let ExclusiveStartKey: Item | undefined
      do {
        const output = await page({ ...input, ...(ExclusiveStartKey && { ExclusiveStartKey }) })
        found.push(output.Items ?? [])
        ExclusiveStartKey = output.LastEvaluatedKey
      } while (ExclusiveStartKey)
      return found
    }
    const sorts = (found: Item[] | undefined) => found?.map((item) => Number(item['sk']?.N))

    test('a page ends after Limit items and names the last of them', async () => {
      const output = await page({ Limit: 5 })
      expect(sorts(output.Items)).toEqual([0, 1, 2, 3, 4])
      expect(output.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '4' } })
    })

    test('the last page that is exactly full still names its last item, and the next is empty', async () => {
      const output = await page({ Limit: 12 })
      expect(output.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '11' } })
      const next = await page({ Limit: 12, ExclusiveStartKey: output.LastEvaluatedKey })
      expect(next).toMatchObject({ Items: [], Count: 0, ScannedCount: 0 })
      expect(next.LastEvaluatedKey).toBeUndefined()
    })

    test('a Limit larger than the partition ends without a next page', async () => {
      expect((await page({ Limit: 13 })).LastEvaluatedKey).toBeUndefined()
    })

    test('pages forward and backward cover the partition once', async () => {
      expect((await walk({ Limit: 5 })).map(sorts)).toEqual([
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11],
      ])
      expect((await walk({ Limit: 5, ScanIndexForward: false })).map(sorts)).toEqual([
        [11, 10, 9, 8, 7],
        [6, 5, 4, 3, 2],
        [1, 0],
      ])
    })

    test('a start key need not exist', async () => {
      const output = await page({
        ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '9.5' } },
      })
      expect(sorts(output.Items)).toEqual([10, 11])
    })

    test('a start key beyond the end finds nothing', async () => {
      const output = await page({ ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '99' } } })
      expect(output.Items).toEqual([])
    })

    const byOwner = {
      IndexName: 'by-owner',
      KeyConditionExpression: '#o = :o',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': { S: 'odd' } },
    }

    test('the key of a page of a global index has the keys of the index and of the table', async () => {
      const output = await page({ ...byOwner, Limit: 2 })
      const last = output.Items?.at(-1)
      expect(output.LastEvaluatedKey).toEqual({
        pk: { S: 'p' },
        sk: last?.['sk'],
        owner: { S: 'odd' },
      })
      const ranked = await page({ ...byOwner, IndexName: 'by-rank', Limit: 2 })
      expect(ranked.LastEvaluatedKey).toEqual({
        pk: { S: 'p' },
        sk: ranked.Items?.at(-1)?.['sk'],
        owner: { S: 'odd' },
        rank: { N: '0' },
      })
    })

    test('pages of a global index cover each item once, equal keys included', async () => {
      for (const IndexName of ['by-owner', 'by-rank']) {
        for (const ScanIndexForward of [true, false]) {
          const pages = await walk({ ...byOwner, IndexName, ScanIndexForward, Limit: 1 })
          expect(sorts(pages.flat())?.toSorted((a, b) => a - b)).toEqual([1, 3, 5, 7, 9, 11])
        }
      }
    })

    test('the key of a page of a local index has the sort key of the index too', async () => {
      const output = await page({ IndexName: 'by-time', Limit: 3 })
      expect(output.LastEvaluatedKey).toEqual({
        pk: { S: 'p' },
        sk: output.Items?.at(-1)?.['sk'],
        rank: { N: '0' },
      })
    })

    test('pages of a local index cover each item once, in the order of the index', async () => {
      for (const ScanIndexForward of [true, false]) {
        const found = (await walk({ IndexName: 'by-time', Limit: 5, ScanIndexForward })).flat()
        expect(sorts(found)?.toSorted((a, b) => a - b)).toEqual(sorts(items))
        const ranks = found.map((item) => Number(item['rank']?.N))
        expect(ranks).toEqual(ranks.toSorted((a, b) => (ScanIndexForward ? a - b : b - a)))
      }
    })

    refuses(
      target,
      QueryCommand,
      {
        TableName: table,
        KeyConditionExpression: 'pk = :p AND sk > :s',
        ExpressionAttributeValues: { ':p': { S: 'p' }, ':s': { N: '5' } },
      },
      [
        [
          'a start key without the sort key',
          { ExclusiveStartKey: { pk: { S: 'p' } } },
          startKeyInvalid,
          'start-key-texts',
        ],
        [
          'a start key of another type',
          { ExclusiveStartKey: { pk: { S: 'p' }, sk: { S: '1' } } },
          'The provided key element does not match the schema',
          'start-key-texts',
        ],
        [
          'a start key with one attribute too many',
          { ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '6' }, owner: { S: 'x' } } },
          startKeyInvalid,
          'start-key-texts',
        ],
        [
          'a start key of another partition',
          {
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' } },
            ExclusiveStartKey: { pk: { S: 'q' }, sk: { N: '6' } },
          },
          'The provided starting key is outside query boundaries based on provided conditions',
          'start-key-texts',
        ],
        [
          'a start key of another partition within the range of the sort key',
          { ExclusiveStartKey: { pk: { S: 'q' }, sk: { N: '6' } } },
          'The query can return at most one row and cannot be restarted',
          'start-key-texts',
        ],
        [
          'a start key outside the range of the sort key',
          { ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '1' } } },
          'The provided starting key does not match the range key predicate',
        ],
      ],
    )

    describe('of one megabyte', () => {
      const large = Array.from({ length: 5 }, (_, n): Item => ({
        pk: { S: 'p' },
        sk: { N: `${n}` },
        body: { S: text(300_000) },
      }))
      const big = useTable(target, { key: { pk: 'S', sk: 'N' } })

      beforeAll(async () => {
        for (const Item of large) {
          await target.client.send(new PutItemCommand({ TableName: big, Item }))
        }
      })

      test('end after the item that crosses it', async () => {
        const first = await page({ TableName: big })
        expect(sorts(first.Items)).toEqual([0, 1, 2, 3])
        expect(first.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '3' } })
        const second = await page({ TableName: big, ExclusiveStartKey: first.LastEvaluatedKey })
        expect(sorts(second.Items)).toEqual([4])
        expect(second.LastEvaluatedKey).toBeUndefined()
      })

      test('are measured before the projection', async () => {
        const projected = await page({ TableName: big, ProjectionExpression: 'sk' })
        expect(sorts(projected.Items)).toEqual([0, 1, 2, 3])
        const counted = await page({ TableName: big, Select: 'COUNT' })
        expect(counted).toMatchObject({ Count: 4, ScannedCount: 4 })
      })

      testUnless(target, 'page-before-filter', 'are measured before the filter', async () => {
        const filtered = await page({
          TableName: big,
          FilterExpression: 'attribute_exists(nowhere)',
        })
        expect(filtered).toMatchObject({ Count: 0, ScannedCount: 4 })
        expect(filtered.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '3' } })
      })

      test('bound a scan too', async () => {
        const output = await target.client.send(new ScanCommand({ TableName: big }))
        expect(output.Count).toBe(4)
        expect(output.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '3' } })
      })
    })
  })
}
