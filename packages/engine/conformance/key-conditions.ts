/** Key conditions that a query cannot use, with AWS's texts. What they find: see query. */
import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { describe, test } from 'vitest'
import type { DifferenceId } from './differences.ts'
import { expectRefusal, freshName, type Item, missingTable, refuses, useTable } from './harness.ts'
import type { Target } from './target.ts'

export function keyConditions(target: Target): void {
  describe('key conditions', () => {
    describe('that are refused', () => {
      const table = useTable(target, { key: { pk: 'S', sk: 'S' } })
      const simple = useTable(target, { key: { pk: 'S' } })
      const values = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, n) => [`:${'abc'[n]}`, { S: 'x' }]))
      const invalid = (complaint: string) => `Invalid KeyConditionExpression: ${complaint}`
      const unsupported = 'Query key condition not supported'
      const nestedKey = /KeyConditionExpressions cannot have conditions on nested attributes$/
      const rows: [
        condition: string,
        values: Item,
        complaint: string | RegExp,
        unless?: DifferenceId,
      ][] = [
        ['', values(1), invalid('The expression can not be empty;')],
        ['pk', values(1), invalid('Syntax error; token: "<EOF>", near: "pk"')],
        [
          'sk = :a',
          values(1),
          'Query condition missed key schema element: pk',
          'key-condition-texts',
        ],
        [
          'else_where = :a',
          values(1),
          'Query condition missed key schema element: pk',
          'key-condition-texts',
        ],
        [
          'pk = :a AND else_where = :b',
          values(2),
          'Query condition missed key schema element: sk',
          'key-condition-texts',
        ],
        ['pk > :a', values(1), unsupported],
        ['pk <> :a', values(1), 'Invalid operator used in KeyConditionExpression: <>'],
        ['begins_with(pk, :a)', values(1), unsupported],
        ['pk BETWEEN :a AND :b', values(2), unsupported],
        ['pk = :a AND sk <> :b', values(2), 'Invalid operator used in KeyConditionExpression: <>'],
        ['pk = :a OR sk = :b', values(2), 'Invalid operator used in KeyConditionExpression: OR'],
        ['NOT pk = :a', values(1), 'Invalid operator used in KeyConditionExpression: NOT'],
        ['pk IN (:a, :b)', values(2), 'Invalid operator used in KeyConditionExpression: IN'],
        [
          'pk = :a AND contains(sk, :b)',
          values(2),
          'Invalid operator used in KeyConditionExpression: contains',
        ],
        [
          'pk = :a AND attribute_exists(sk)',
          values(1),
          'Invalid operator used in KeyConditionExpression: attribute_exists',
        ],
        [
          'pk = :a AND size(sk) = :b',
          values(2),
          'KeyConditionExpressions cannot contain nested operations',
        ],
        [
          'pk = :a AND pk = :b',
          values(2),
          'KeyConditionExpressions must only contain one condition per key',
        ],
        [
          'pk = :a AND sk > :b AND sk < :c',
          values(3),
          'KeyConditionExpressions must only contain one condition per key',
        ],
        [
          'pk = :a AND sk = pk',
          values(1),
          'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition',
        ],
        [
          'pk = sk AND sk = :a',
          values(1),
          'Invalid condition in KeyConditionExpression: Multiple attribute names used in one condition',
        ],
        ['pk.x = :a', values(1), nestedKey, 'key-condition-texts'],
        ['pk = :a AND sk[0] = :b', values(2), nestedKey, 'key-condition-texts'],
        [
          ':a = :b',
          values(2),
          'Invalid condition in KeyConditionExpression: No key attribute specified',
        ],
        [
          'pk = :a AND begins_with(:b, sk)',
          values(2),
          'Invalid condition in KeyConditionExpression: begins_with operator must have the key attribute as its first operand',
        ],
        [
          'pk = :a AND :b BETWEEN sk AND :c',
          values(3),
          'Invalid condition in KeyConditionExpression: BETWEEN operator must have the key attribute as its first operand',
        ],
        [
          'pk = :z',
          values(1),
          invalid(
            'An expression attribute value used in expression is not defined; attribute value: :z',
          ),
        ],
      ]
      refuses(
        target,
        QueryCommand,
        { TableName: table },
        rows.map(([condition, given, complaint, unless]) => [
          `"${condition}"`,
          { KeyConditionExpression: condition, ExpressionAttributeValues: given },
          complaint,
          unless,
        ]),
      )
      refuses(
        target,
        QueryCommand,
        { TableName: table, KeyConditionExpression: 'pk = :a AND sk = :b' },
        [
          [
            'a partition key value of another type',
            { ExpressionAttributeValues: { ':a': { N: '1' }, ':b': { S: 'x' } } },
            'One or more parameter values were invalid: Condition parameter type does not match schema type',
          ],
          [
            'a sort key value of another type',
            { ExpressionAttributeValues: { ':a': { S: 'x' }, ':b': { N: '1' } } },
            'One or more parameter values were invalid: Condition parameter type does not match schema type',
          ],
          [
            'an empty partition key value',
            { ExpressionAttributeValues: { ':a': { S: '' }, ':b': { S: 'x' } } },
            'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
          ],
        ],
      )
      refuses(target, QueryCommand, { TableName: table }, [
        [
          'reversed bounds of a range',
          {
            KeyConditionExpression: 'pk = :a AND sk BETWEEN :b AND :c',
            ExpressionAttributeValues: { ':a': { S: 'x' }, ':b': { S: 'z' }, ':c': { S: 'a' } },
          },
          invalid(
            'The BETWEEN operator requires upper bound to be greater than or equal to lower bound; lower bound operand: AttributeValue: {S:z}, upper bound operand: AttributeValue: {S:a}',
          ),
        ],
        [
          'no key condition at all',
          { ExpressionAttributeValues: undefined },
          'Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.',
        ],
      ])
      refuses(
        target,
        QueryCommand,
        { TableName: simple, KeyConditionExpression: 'pk = :a AND sk = :b' },
        [
          [
            'a sort key condition on a table that has no sort key',
            { ExpressionAttributeValues: { ':a': { S: 'x' }, ':b': { S: 'x' } } },
            'Query key condition not supported',
          ],
        ],
      )

      test('refuses a table that does not exist', async () => {
        const request = new QueryCommand({
          TableName: freshName(),
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: 'p' } },
        })
        await expectRefusal(target.client.send(request), missingTable(target))
      })
    })

    describe('on number keys', () => {
      const table = useTable(target, { key: { pk: 'S', sk: 'N' } })
      refuses(target, QueryCommand, { TableName: table }, [
        [
          'begins_with on a number',
          {
            KeyConditionExpression: 'pk = :a AND begins_with(sk, :b)',
            ExpressionAttributeValues: { ':a': { S: 'x' }, ':b': { N: '1' } },
          },
          'Invalid KeyConditionExpression: Incorrect operand type for operator or function; operator or function: begins_with, operand type: N',
        ],
        [
          'begins_with with a string on a number key',
          {
            KeyConditionExpression: 'pk = :a AND begins_with(sk, :b)',
            ExpressionAttributeValues: { ':a': { S: 'x' }, ':b': { S: '1' } },
          },
          'One or more parameter values were invalid: Condition parameter type does not match schema type',
        ],
      ])
    })
  })
}
