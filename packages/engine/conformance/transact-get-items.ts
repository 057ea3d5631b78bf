/** TransactGetItems: items by position, projections, and what is refused. */
import { type TransactGetItem, TransactGetItemsCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, failure, freshName, missingTable, refuses, useTable } from './harness.ts'
import { differs, type Target } from './target.ts'

export function transactGetItems(target: Target): void {
  describe('TransactGetItems', () => {
    const one = { pk: { S: '1' }, a: { N: '1' }, m: { M: { x: { N: '1' }, y: { N: '2' } } } }
    const two = { pk: { S: '2' }, sk: { N: '2' } }
    const table = useTable(target, { key: { pk: 'S' } }, [one])
    const other = useTable(target, { key: { pk: 'S', sk: 'N' } }, [two])
    const get = (TransactItems: TransactGetItem[]) =>
      target.client.send(new TransactGetItemsCommand({ TransactItems }))
    const first = { Get: { TableName: table, Key: { pk: { S: '1' } } } }

    test('returns items in the order of the request, from several tables', async () => {
      const output = await get([
        { Get: { TableName: other, Key: two } },
        { Get: { TableName: table, Key: { pk: { S: 'nobody' } } } },
        first,
      ])
      expect(output.Responses).toEqual([{ Item: two }, {}, { Item: one }])
    })

    test('projects each item on its own', async () => {
      const output = await get([
        {
          Get: {
            ...first.Get,
            ProjectionExpression: 'm.#y',
            ExpressionAttributeNames: { '#y': 'y' },
          },
        },
        { Get: { TableName: other, Key: two, ProjectionExpression: 'sk' } },
      ])
      expect(output.Responses).toEqual([
        { Item: { m: { M: { y: { N: '2' } } } } },
        { Item: { sk: { N: '2' } } },
      ])
    })

    test('returns an empty item when the projection names nothing it has', async () => {
      const output = await get([{ Get: { ...first.Get, ProjectionExpression: 'nothing' } }])
      expect(output.Responses).toEqual([{ Item: {} }])
    })

    test('reads a hundred items', async () => {
      const output = await get(
        Array.from({ length: 100 }, (_, n) => ({
          Get: { TableName: table, Key: { pk: { S: `${n}` } } },
        })),
      )
      expect(output.Responses).toHaveLength(100)
      expect(output.Responses?.[1]).toEqual({ Item: one })
    })

    test.skipIf(differs(target, 'transaction-validation'))(
      'is cancelled with a ValidationError for a key that does not match',
      async () => {
        const error = await failure(
          get([first, { Get: { TableName: other, Key: { pk: { S: '2' } } } }]),
        )
        expect(error).toMatchObject({
          name: 'TransactionCanceledException',
          message:
            'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ValidationError]',
          CancellationReasons: [
            { Code: 'None' },
            {
              Code: 'ValidationError',
              Message: 'The provided key element does not match the schema',
            },
          ],
        })
      },
    )

    test('refuses a table that does not exist', async () => {
      const request = get([first, { Get: { TableName: freshName(), Key: { pk: { S: 'a' } } } }])
      await expectRefusal(request, missingTable(target))
    })

    const gets = (length: number) =>
      Array.from({ length }, (_, n) => ({ Get: { TableName: table, Key: { pk: { S: `${n}` } } } }))
    refuses(target, TransactGetItemsCommand, {}, [
      [
        'no items',
        { TransactItems: [] },
        "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
        'parameter-texts',
      ],
      [
        'a hundred and one items',
        { TransactItems: gets(101) },
        /1 validation error detected: Value '\[.*\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/s,
        'parameter-texts',
      ],
      [
        'the same item twice',
        { TransactItems: [first, first] },
        'Transaction request cannot include multiple operations on one item',
      ],
      [
        'an empty key',
        { TransactItems: [{ Get: { TableName: table, Key: { pk: { S: '' } } } }] },
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
      ],
      [
        'a projection with an error in its syntax',
        { TransactItems: [{ Get: { ...first.Get, ProjectionExpression: '!!!' } }] },
        'Invalid ProjectionExpression: Syntax error; token: "!", near: "!!"',
      ],
      [
        'projections that overlap',
        { TransactItems: [{ Get: { ...first.Get, ProjectionExpression: 'a, a' } }] },
        'Invalid ProjectionExpression: Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [a], path two: [a]',
      ],
    ])
  })
}
