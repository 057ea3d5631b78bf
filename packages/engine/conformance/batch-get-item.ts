/** BatchGetItem: up to a hundred keys, over several tables, and what does not fit in one answer. */
import {
  BatchGetItemCommand,
  type KeysAndAttributes,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  freshName,
  type Item,
  missingTable,
  refuses,
  text,
  useTable,
} from './harness.ts'
import type { Target } from './target.ts'

export function batchGetItem(target: Target): void {
  describe('BatchGetItem', () => {
    const items = Array.from({ length: 100 }, (_, n): Item => ({
      pk: { S: `${n}` },
      n: { N: `${n}` },
    }))
    const table = useTable(target, { key: { pk: 'S' } }, items)
    const other = useTable(target, { key: { pk: 'S', sk: 'N' } }, [
      { pk: { S: 'a' }, sk: { N: '1' }, m: { M: { x: { N: '1' }, y: { N: '2' } } } },
    ])
    const keys = (...names: string[]): Item[] => names.map((S) => ({ pk: { S } }))
    const batch = (RequestItems: Record<string, KeysAndAttributes>) =>
      target.client.send(new BatchGetItemCommand({ RequestItems }))
    const sorted = (found: Item[] | undefined) =>
      found?.toSorted((a, b) => Number(a['n']?.N) - Number(b['n']?.N))

    test('returns the items that are there, by table, and leaves nothing unprocessed', async () => {
      const output = await batch({
        [table]: { Keys: keys('1', 'nobody', '2') },
        [other]: { Keys: [{ pk: { S: 'a' }, sk: { N: '1' } }], ProjectionExpression: 'm.x' },
      })
      expect(output.UnprocessedKeys).toEqual({})
      expect(sorted(output.Responses?.[table])).toEqual([items[1], items[2]])
      expect(output.Responses?.[other]).toEqual([{ m: { M: { x: { N: '1' } } } }])
    })

    test('returns an empty list for a table without matching items', async () => {
      const output = await batch({ [table]: { Keys: keys('nobody') } })
      expect(output.Responses).toEqual({ [table]: [] })
    })

    test('returns an empty item when the projection names nothing it has', async () => {
      const output = await batch({ [table]: { Keys: keys('1'), ProjectionExpression: 'nothing' } })
      expect(output.Responses).toEqual({ [table]: [{}] })
    })

    test('accepts a hundred keys, and reads consistently if requested', async () => {
      const output = await batch({
        [table]: { Keys: items.map(({ pk }) => ({ pk: pk ?? { S: '' } })), ConsistentRead: true },
      })
      expect(sorted(output.Responses?.[table])).toEqual(items)
    })

    test('refuses a table that does not exist', async () => {
      const request = batch({ [table]: { Keys: keys('1') }, [freshName()]: { Keys: keys('1') } })
      await expectRefusal(request, missingTable(target))
    })

    describe('of more than 16 MB', () => {
      const large = useTable(target, { key: { pk: 'S' } })

      test('returns what fits and names the keys it left', async () => {
        const names = Array.from({ length: 45 }, (_, n) => `large ${n}`)
        await Promise.all(
          names.map((S) =>
            target.client.send(
              new PutItemCommand({
                TableName: large,
                Item: { pk: { S }, body: { S: text(380_000) } },
              }),
            ),
          ),
        )
        const output = await batch({ [large]: { Keys: keys(...names), ConsistentRead: true } })
        const found = output.Responses?.[large]?.length ?? 0
        const left = output.UnprocessedKeys?.[large]
        expect(found).toBeGreaterThan(40)
        expect(found).toBeLessThan(45)
        expect(left?.Keys).toHaveLength(45 - found)
        expect(left?.ConsistentRead).toBe(true)
      })
    })

    const noMatch = 'The provided key element does not match the schema'
    const asked = (entry: object) => ({ RequestItems: { [table]: entry } })
    const many = Array.from({ length: 101 }, (_, n) => `${n}`)
    refuses(target, BatchGetItemCommand, {}, [
      [
        'no tables',
        { RequestItems: {} },
        "1 validation error detected: Value at 'RequestItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'a table without keys',
        asked({ Keys: [] }),
        `1 validation error detected: Value at 'RequestItems.${table}.member.Keys' failed to satisfy constraint: Member must have length greater than or equal to 1`,
        'parameter-texts',
      ],
      [
        'a hundred and one keys',
        asked({ Keys: keys(...many) }),
        `1 validation error detected: Value at 'RequestItems.${table}.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100`,
        'parameter-texts',
      ],
      [
        'a hundred and one keys over two tables',
        {
          RequestItems: {
            [table]: { Keys: keys(...many.slice(0, 50)) },
            [other]: { Keys: many.slice(50).map((N) => ({ pk: { S: 'a' }, sk: { N } })) },
          },
        },
        'Too many items requested for the BatchGetItem call',
      ],
      [
        'the same key twice',
        asked({ Keys: keys('1', '1') }),
        'Provided list of item keys contains duplicates',
      ],
      ['a key of another type', asked({ Keys: [{ pk: { N: '1' } }] }), noMatch, 'key-texts'],
      [
        'a key with one attribute too many',
        asked({ Keys: [{ pk: { S: '1' }, n: { N: '1' } }] }),
        noMatch,
        'key-texts',
      ],
      ['a key that is not complete', asked({ Keys: [{}] }), noMatch, 'key-texts'],
      [
        'an empty key',
        asked({ Keys: keys('') }),
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
      ],
      [
        'an empty projection',
        asked({ Keys: keys('1'), ProjectionExpression: '' }),
        'Invalid ProjectionExpression: The expression can not be empty;',
      ],
      [
        'projections that overlap',
        asked({ Keys: keys('nobody'), ProjectionExpression: 'n, n' }),
        'Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [n], path two: [n]',
      ],
      [
        'names without a projection',
        asked({ Keys: keys('1'), ExpressionAttributeNames: { '#n': 'n' } }),
        'ExpressionAttributeNames can only be specified when using expressions',
      ],
      [
        'both kinds of projection',
        asked({ Keys: keys('1'), ProjectionExpression: 'n', AttributesToGet: ['n'] }),
        'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}',
      ],
    ])
  })
}
