/** Query: key conditions, order, filters, Select, and what it refuses. */
import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, refuses, useTable } from './harness.ts'
import type { Target } from './target.ts'

const bytes = (...octets: number[]) => new Uint8Array(octets)
const row = (pk: string, sk: Item[string], rest: Item = {}): Item => ({
  pk: { S: pk },
  sk,
  ...rest,
})

export function query(target: Target): void {
  describe('Query', () => {
    describe('by a string sort key', () => {
      const keys = ['a', 'a b', 'aa', 'ab', 'b', 'A', 'B', 'ä', 'z', '~', '🔑', '￿']
      const table = useTable(target, { key: { pk: 'S', sk: 'S' } }, [
        ...keys.map((S) => row('p', { S })),
        row('q', { S: 'a' }),
      ])
      const find = async (condition: string, values: Item = {}, input: object = {}) => {
        const output = await target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: condition,
            ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
            ...input,
          }),
        )
        expect(output.Count).toBe(output.Items?.length)
        return output.Items?.map((item) => item['sk']?.S)
      }

      test('returns the items of one partition in the order of their UTF-8 bytes', async () => {
        expect(await find('pk = :p')).toEqual([
          'A',
          'B',
          'a',
          'a b',
          'aa',
          'ab',
          'b',
          'z',
          '~',
          'ä',
          '￿',
          '🔑',
        ])
      })

      test('returns them in reverse with ScanIndexForward false', async () => {
        expect(await find('pk = :p', {}, { ScanIndexForward: false, Limit: 3 })).toEqual([
          '🔑',
          '￿',
          'ä',
        ])
      })

      const rows: [condition: string, values: Item, found: string[]][] = [
        ['pk = :p AND sk = :a', { ':a': { S: 'a' } }, ['a']],
        ['pk = :p and sk = :a', { ':a': { S: 'nothing' } }, []],
        ['sk = :a AND pk = :p', { ':a': { S: 'a' } }, ['a']],
        ['sk < :a AND :p = pk', { ':a': { S: 'a' } }, ['A', 'B']],
        [':p = pk AND :a > sk', { ':a': { S: 'a' } }, ['A', 'B']],
        ['pk = :p AND :a <= sk', { ':a': { S: '~' } }, ['~', 'ä', '￿', '🔑']],
        ['pk = :p AND sk < :a', { ':a': { S: 'a' } }, ['A', 'B']],
        ['pk = :p AND sk <= :a', { ':a': { S: 'a' } }, ['A', 'B', 'a']],
        ['pk = :p AND sk > :a', { ':a': { S: 'ab' } }, ['b', 'z', '~', 'ä', '￿', '🔑']],
        ['pk = :p AND sk >= :a', { ':a': { S: 'z' } }, ['z', '~', 'ä', '￿', '🔑']],
        [
          'pk = :p AND sk BETWEEN :a AND :b',
          { ':a': { S: 'a' }, ':b': { S: 'aa' } },
          ['a', 'a b', 'aa'],
        ],
        ['sk BETWEEN :a AND :b AND pk = :p', { ':a': { S: 'aa' }, ':b': { S: 'aa' } }, ['aa']],
        ['pk = :p AND begins_with(sk, :a)', { ':a': { S: 'a' } }, ['a', 'a b', 'aa', 'ab']],
        ['begins_with(sk, :a) AND pk = :p', { ':a': { S: 'ab' } }, ['ab']],
        ['pk = :p AND begins_with(sk, :a)', { ':a': { S: '🔑' } }, ['🔑']],
        ['(pk = :p) AND (sk = :a)', { ':a': { S: 'a' } }, ['a']],
        ['(pk = :p AND sk = :a)', { ':a': { S: 'a' } }, ['a']],
        ['pk = :p AND (sk BETWEEN :a AND :b)', { ':a': { S: 'b' }, ':b': { S: 'c' } }, ['b']],
      ]
      for (const [condition, values, found] of rows) {
        test(`"${condition}" with ${JSON.stringify(values)} finds ${JSON.stringify(found)}`, async () => {
          expect(await find(condition, values)).toEqual(found)
        })
      }

      test('finds nothing in a partition that does not exist', async () => {
        const output = await target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'nobody' } },
          }),
        )
        expect(output).toMatchObject({ Items: [], Count: 0, ScannedCount: 0 })
        expect(output.LastEvaluatedKey).toBeUndefined()
      })
    })

    describe('by a number sort key', () => {
      const numbers = [
        '-9.9999999999999999999999999999999999999E+125 -1E+100 -100 -10 -9 -1.5 -1 -0.5 -1E-130 0',
        '1E-130 0.05 0.5 1 1.5 2 9 10 11 100 12345678901234567890123456789012345678 1E+100',
        '9.9999999999999999999999999999999999999E+125',
      ].flatMap((line) => line.split(' '))
      const table = useTable(
        target,
        { key: { pk: 'S', sk: 'N' } },
        numbers
          .map((N, position) => row('p', { N }, { position: { N: `${position}` } }))
          .toReversed(),
      )
      const find = async (condition: string, values: Item = {}) => {
        const output = await target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: condition,
            ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
          }),
        )
        return output.Items?.map((item) => numbers[Number(item['position']?.N)])
      }

      test('returns items in numeric order over the whole range of numbers', async () => {
        expect(await find('pk = :p')).toEqual(numbers)
      })

      test('compares by value', async () => {
        expect(
          await find('pk = :p AND sk BETWEEN :a AND :b', {
            ':a': { N: '-1.0' },
            ':b': { N: '5e-1' },
          }),
        ).toEqual(['-1', '-0.5', '-1E-130', '0', '1E-130', '0.05', '0.5'])
        expect(await find('pk = :p AND sk > :a', { ':a': { N: '10.5' } })).toEqual(
          numbers.slice(numbers.indexOf('11')),
        )
        expect(await find('pk = :p AND sk < :a', { ':a': { N: '-99.9' } })).toEqual(
          numbers.slice(0, 3),
        )
        expect(await find('pk = :p AND sk = :a', { ':a': { N: '1000e-1' } })).toEqual(['100'])
      })
    })

    describe('by a binary sort key', () => {
      const keys = [[0], [0, 0], [0, 1], [1], [127], [128], [255], [255, 0], [255, 255]]
      const table = useTable(
        target,
        { key: { pk: 'S', sk: 'B' } },
        keys.map((key) => row('p', { B: bytes(...key) })).toReversed(),
      )
      const find = async (condition: string, values: Item = {}) => {
        const output = await target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: condition,
            ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
          }),
        )
        return output.Items?.map((item) => [...(item['sk']?.B ?? [])])
      }

      test('returns items in the order of unsigned bytes', async () => {
        expect(await find('pk = :p')).toEqual(keys)
      })

      test('finds by prefix and by range', async () => {
        expect(await find('pk = :p AND begins_with(sk, :a)', { ':a': { B: bytes(0) } })).toEqual([
          [0],
          [0, 0],
          [0, 1],
        ])
        expect(
          await find('pk = :p AND begins_with(sk, :a)', { ':a': { B: bytes(255, 255) } }),
        ).toEqual([[255, 255]])
        expect(await find('pk = :p AND sk > :a', { ':a': { B: bytes(127) } })).toEqual([
          [128],
          [255],
          [255, 0],
          [255, 255],
        ])
      })
    })

    describe('with filters and Select', () => {
      const table = useTable(
        target,
        { key: { pk: 'S', sk: 'N' } },
        Array.from({ length: 10 }, (_, n) =>
          row('p', { N: `${n}` }, { parity: { S: n % 2 ? 'odd' : 'even' }, v: { N: `${n * n}` } }),
        ),
      )
      const find = (input: object, values: Item = {}) =>
        target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' }, ...values },
            ...input,
          }),
        )
      const odd = { ':odd': { S: 'odd' } }

      test('a filter lowers Count but not ScannedCount', async () => {
        const output = await find({ FilterExpression: 'parity = :odd' }, odd)
        expect(output).toMatchObject({ Count: 5, ScannedCount: 10 })
        expect(output.Items?.map((item) => item['sk']?.N)).toEqual(['1', '3', '5', '7', '9'])
      })

      test('Limit counts items before the filter', async () => {
        const output = await find({ FilterExpression: 'parity = :odd', Limit: 3 }, odd)
        expect(output).toMatchObject({
          Count: 1,
          ScannedCount: 3,
          LastEvaluatedKey: { pk: { S: 'p' }, sk: { N: '2' } },
        })
      })

      test('COUNT gives the numbers without the items', async () => {
        const output = await find({ Select: 'COUNT', FilterExpression: 'parity = :odd' }, odd)
        expect(output).toMatchObject({ Count: 5, ScannedCount: 10 })
        expect(output.Items).toBeUndefined()
      })

      test('a projection keeps only its attributes, and a filter may use others', async () => {
        const output = await find(
          { ProjectionExpression: 'v', FilterExpression: 'parity = :odd', Limit: 2 },
          odd,
        )
        expect(output.Items).toEqual([{ v: { N: '1' } }])
        expect(output.LastEvaluatedKey).toEqual({ pk: { S: 'p' }, sk: { N: '1' } })
      })

      test('SPECIFIC_ATTRIBUTES goes with a projection', async () => {
        const output = await find({
          Select: 'SPECIFIC_ATTRIBUTES',
          ProjectionExpression: 'sk, v',
          Limit: 1,
        })
        expect(output.Items).toEqual([{ sk: { N: '0' }, v: { N: '0' } }])
      })

      test('ALL_ATTRIBUTES is what a query on the table gives anyway', async () => {
        const output = await find({ Select: 'ALL_ATTRIBUTES', Limit: 1 })
        expect(output.Items).toEqual([
          { pk: { S: 'p' }, sk: { N: '0' }, parity: { S: 'even' }, v: { N: '0' } },
        ])
      })

      refuses(
        target,
        QueryCommand,
        {
          TableName: table,
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
        },
        [
          [
            'a filter on the partition key',
            { FilterExpression: 'pk = :p' },
            'Filter Expression can only contain non-primary key attributes: Primary key attribute: pk',
          ],
          [
            'a filter on the sort key',
            {
              FilterExpression: 'sk > :n',
              ExpressionAttributeValues: { ':p': { S: 'p' }, ':n': { N: '1' } },
            },
            'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk',
          ],
          [
            'a filter with a function of the sort key',
            { FilterExpression: 'attribute_exists(sk)' },
            'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk',
          ],
          [
            'a Limit of zero',
            { Limit: 0 },
            "1 validation error detected: Value at 'Limit' failed to satisfy constraint: Member must have value greater than or equal to 1",
            'parameter-texts',
          ],
          [
            'an unknown Select',
            { Select: 'SOME' },
            "1 validation error detected: Value 'SOME' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]",
            'parameter-texts',
          ],
          [
            'SPECIFIC_ATTRIBUTES without a projection',
            { Select: 'SPECIFIC_ATTRIBUTES' },
            'Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES',
          ],
          [
            'ALL_ATTRIBUTES with a projection',
            { Select: 'ALL_ATTRIBUTES', ProjectionExpression: 'v' },
            'Cannot specify the ProjectionExpression when choosing to get ALL_ATTRIBUTES',
          ],
          [
            'COUNT with a projection',
            { Select: 'COUNT', ProjectionExpression: 'v' },
            'Cannot specify the ProjectionExpression when choosing to get only the Count',
          ],
          [
            'ALL_PROJECTED_ATTRIBUTES without an index',
            { Select: 'ALL_PROJECTED_ATTRIBUTES' },
            'ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName',
          ],
          [
            'an index that the table does not have',
            { IndexName: 'nowhere' },
            'The table does not have the specified index: nowhere',
          ],
        ],
      )
    })
  })
}
