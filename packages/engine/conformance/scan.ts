/** Scan: the whole table once, in pages and in parallel segments, with filters and Select. */
import { PutItemCommand, ScanCommand, type ScanCommandInput } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, freshName, type Item, missingTable, refuses, useTable } from './harness.ts'
import type { Target } from './target.ts'

const count = 60

export function scan(target: Target): void {
  describe('Scan', () => {
    const items = Array.from({ length: count }, (_, n): Item => ({
      pk: { S: `p${n % 20}` },
      sk: { N: `${n}` },
      third: { BOOL: n % 3 === 0 },
    }))
    const table = useTable(
      target,
      { key: { pk: 'S', sk: 'N' }, global: { 'by-number': { key: { sk: 'N', pk: 'S' } } } },
      items,
    )
    const changing = useTable(target, { key: { pk: 'S', sk: 'N' } }, items)
    const bare = useTable(target, { key: { pk: 'S' } })
    const page = (input: Partial<ScanCommandInput> = {}) =>
      target.client.send(new ScanCommand({ TableName: table, ...input }))

    async function pages(input: Partial<ScanCommandInput>): Promise<Item[]> {
      const found: Item[] = []
      let ExclusiveStartKey: Item | undefined
      do {
        const output = await page({ ...input, ...(ExclusiveStartKey && { ExclusiveStartKey }) })
        found.push(...(output.Items ?? []))
        ExclusiveStartKey = output.LastEvaluatedKey
      } while (ExclusiveStartKey)
      return found
    }
    const ordered = (found: Item[]) =>
      found.toSorted((a, b) => Number(a['sk']?.N) - Number(b['sk']?.N))

    test('returns every item exactly once', async () => {
      const output = await page()
      expect(output).toMatchObject({ Count: count, ScannedCount: count })
      expect(output.LastEvaluatedKey).toBeUndefined()
      expect(ordered(output.Items ?? [])).toEqual(items)
    })

    test('keeps the items of one partition together and in order', async () => {
      const found = (await page()).Items ?? []
      const partitions = found.map((item) => item['pk']?.S)
      const changes = partitions.filter((name, position) => name !== partitions[position - 1])
      expect(changes).toHaveLength(20)
      for (const name of new Set(partitions)) {
        const sorts = found
          .filter((item) => item['pk']?.S === name)
          .map((item) => Number(item['sk']?.N))
        expect(sorts).toEqual(sorts.toSorted((a, b) => a - b))
      }
    })

    test('returns the same items in the same order page by page', async () => {
      const whole = (await page()).Items
      expect(await pages({ Limit: 7 })).toEqual(whole)
      expect(await pages({ Limit: 1 })).toEqual(whole)
    })

    test('segments are disjoint and together the whole table', async () => {
      const segments = await Promise.all(
        [0, 1, 2, 3].map((Segment) => pages({ Segment, TotalSegments: 4, Limit: 5 })),
      )
      expect(ordered(segments.flat())).toEqual(items)
      expect(ordered(await pages({ Segment: 0, TotalSegments: 1 }))).toEqual(items)
    })

    test('segments of an index are disjoint and together the whole index', async () => {
      const segments = await Promise.all(
        [0, 1, 2].map((Segment) =>
          pages({ IndexName: 'by-number', Segment, TotalSegments: 3, Limit: 7 }),
        ),
      )
      expect(ordered(segments.flat())).toEqual(items)
    })

    test('more segments than partitions leave some empty and lose nothing', async () => {
      const segments = await Promise.all(
        Array.from({ length: 50 }, (_, Segment) => pages({ Segment, TotalSegments: 50 })),
      )
      expect(ordered(segments.flat())).toEqual(items)
    })

    test('segments have each item that exists all the time once, whatever is written between pages', async () => {
      let written = 0
      const found: Item[] = []
      for (const Segment of [0, 1, 2]) {
        let ExclusiveStartKey: Item | undefined
        do {
          const input = { TableName: changing, Segment, TotalSegments: 3, Limit: 4 }
          const output = await page({ ...input, ...(ExclusiveStartKey && { ExclusiveStartKey }) })
          found.push(...(output.Items ?? []).filter(({ added }) => added === undefined))
          ExclusiveStartKey = output.LastEvaluatedKey
          const Item = {
            pk: { S: `q${written}` },
            sk: { N: `${written++}` },
            added: { BOOL: true },
          }
          await target.client.send(new PutItemCommand({ TableName: changing, Item }))
        } while (ExclusiveStartKey)
      }
      expect(ordered(found)).toEqual(items)
    })

    test('filters after counting and may filter on keys', async () => {
      const third = await page({
        FilterExpression: 'third = :yes',
        ExpressionAttributeValues: { ':yes': { BOOL: true } },
      })
      expect(third).toMatchObject({ Count: 20, ScannedCount: count })
      const keys = await page({
        FilterExpression: 'pk = :p AND sk >= :n',
        ExpressionAttributeValues: { ':p': { S: 'p1' }, ':n': { N: '21' } },
      })
      expect(keys.Items?.map((item) => item['sk']?.N)).toEqual(['21', '41'])
    })

    test('a filter that matches nothing still returns where a page ended', async () => {
      const output = await page({
        FilterExpression: 'attribute_exists(nowhere)',
        Limit: 10,
      })
      expect(output).toMatchObject({ Items: [], Count: 0, ScannedCount: 10 })
      expect(output.LastEvaluatedKey).toEqual({
        pk: { S: expect.any(String) },
        sk: { N: expect.any(String) },
      })
    })

    test('COUNT gives the numbers without the items', async () => {
      const output = await page({ Select: 'COUNT' })
      expect(output).toMatchObject({ Count: count, ScannedCount: count })
      expect(output.Items).toBeUndefined()
    })

    test('returns only the attributes of the projection', async () => {
      const output = await page({ ProjectionExpression: 'third' })
      expect(output.Items).toHaveLength(count)
      expect(output.Items?.every((item) => Object.keys(item).join() === 'third')).toBe(true)
    })

    test('an empty table has no items and no next page', async () => {
      const output = await target.client.send(new ScanCommand({ TableName: bare, Limit: 1 }))
      expect(output).toMatchObject({ Items: [], Count: 0, ScannedCount: 0 })
      expect(output.LastEvaluatedKey).toBeUndefined()
    })

    test('refuses a table that does not exist', async () => {
      await expectRefusal(page({ TableName: freshName() }), missingTable(target))
    })

    refuses(target, ScanCommand, { TableName: table }, [
      [
        'a segment without a number of segments',
        { Segment: 0 },
        'The TotalSegments parameter is required but was not present in the request when Segment parameter is present',
        'parameter-texts',
      ],
      [
        'a number of segments without a segment',
        { TotalSegments: 2 },
        'The Segment parameter is required but was not present in the request when parameter TotalSegments is present',
        'parameter-texts',
      ],
      [
        'a segment beyond the number of segments',
        { Segment: 5, TotalSegments: 5 },
        'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5',
        'parameter-texts',
      ],
      [
        'a million and one segments',
        { Segment: 0, TotalSegments: 1_000_001 },
        "1 validation error detected: Value '1000001' at 'totalSegments' failed to satisfy constraint: Member must have value less than or equal to 1000000",
      ],
      [
        'a negative segment',
        { Segment: -1, TotalSegments: 2 },
        "1 validation error detected: Value '-1' at 'segment' failed to satisfy constraint: Member must have value greater than or equal to 0",
        'parameter-texts',
      ],
      [
        'a Limit of zero',
        { Limit: 0 },
        "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'an empty filter',
        { FilterExpression: '' },
        'Invalid FilterExpression: The expression can not be empty;',
      ],
      [
        'values without a filter',
        { ExpressionAttributeValues: { ':a': { S: 'a' } } },
        'ExpressionAttributeValues can only be specified when using expressions: FilterExpression is null',
      ],
      [
        'a wrong operand of begins_with although nothing would match',
        {
          FilterExpression: 'begins_with(nowhere, :n)',
          ExpressionAttributeValues: { ':n': { N: '5' } },
        },
        'Invalid FilterExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
      ],
      [
        'an index that the table does not have',
        { IndexName: 'nowhere' },
        'The table does not have the specified index: nowhere',
      ],
      [
        'ALL_PROJECTED_ATTRIBUTES without an index',
        { Select: 'ALL_PROJECTED_ATTRIBUTES' },
        'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName',
      ],
      [
        'COUNT with a projection',
        { Select: 'COUNT', ProjectionExpression: 'third' },
        'Cannot specify the ProjectionExpression when choosing to get only the Count',
      ],
    ])
  })
}
