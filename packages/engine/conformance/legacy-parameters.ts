/** The parameters from before expressions, which old programs still send. */
import {
  BatchGetItemCommand,
  type Condition,
  DeleteItemCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  type Item,
  read,
  refuses,
  testUnless,
  useTable,
  write,
} from './harness.ts'
import type { Target } from './target.ts'

export function legacyParameters(target: Target): void {
  const { client } = target

  describe('parameters before expressions', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const composite = useTable(
      target,
      { key: { pk: 'S', sk: 'N' } },
      Array.from({ length: 6 }, (_, n) => ({
        pk: { S: 'p' },
        sk: { N: `${n}` },
        v: { N: `${n * n}` },
        ...(n % 2 ? { odd: { BOOL: true } } : {}),
      })),
    )
    const key = (pk: string): Item => ({ pk: { S: pk } })
    const stored = (pk: string) => read(target, table, key(pk))
    const mixed = (old: string, expression: string) =>
      `Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {${old}} Expression parameters: {${expression}}`

    describe('AttributesToGet', () => {
      test('names the attributes to return', async () => {
        await write(target, table, [
          { ...key('get'), a: { N: '1' }, b: { N: '2' }, 'c.d': { N: '3' } },
        ])
        const get = async (AttributesToGet: string[]) =>
          (
            await client.send(
              new GetItemCommand({ TableName: table, Key: key('get'), AttributesToGet }),
            )
          ).Item
        expect(await get(['a', 'c.d', 'nothing'])).toEqual({ a: { N: '1' }, 'c.d': { N: '3' } })
        const batch = await client.send(
          new BatchGetItemCommand({
            RequestItems: { [table]: { Keys: [key('get')], AttributesToGet: ['b'] } },
          }),
        )
        expect(batch.Responses?.[table]).toEqual([{ b: { N: '2' } }])
      })

      refuses(target, ScanCommand, { TableName: table, AttributesToGet: ['a'] }, [
        [
          'a count beside it',
          { Select: 'COUNT' },
          'Cannot specify the AttributesToGet when choosing to get only the Count',
        ],
        [
          'all attributes beside it',
          { Select: 'ALL_ATTRIBUTES' },
          'Cannot specify the AttributesToGet when choosing to get ALL_ATTRIBUTES',
        ],
      ])

      refuses(target, GetItemCommand, { TableName: table, Key: key('a') }, [
        [
          'a projection beside it',
          { AttributesToGet: ['a'], ProjectionExpression: 'a' },
          mixed('AttributesToGet', 'ProjectionExpression'),
        ],
        [
          'an attribute named twice',
          { AttributesToGet: ['a', 'a'] },
          'One or more parameter values were invalid: Duplicate value in attribute name: a',
          'legacy-texts',
        ],
      ])
    })

    describe('AttributeUpdates', () => {
      const updated = async (before: Item, AttributeUpdates: object) => {
        await write(target, table, [{ ...key('updated'), ...before }])
        const { Attributes } = await client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: key('updated'),
            AttributeUpdates: AttributeUpdates as never,
            ReturnValues: 'ALL_NEW',
          }),
        )
        const { pk, ...rest } = Attributes ?? {}
        expect(pk).toEqual({ S: 'updated' })
        return rest
      }

      test('PUT sets an attribute', async () => {
        const change = { a: { Value: { S: 'x' }, Action: 'PUT' } }
        expect(await updated({ a: { N: '1' } }, change)).toEqual({ a: { S: 'x' } })
      })

      testUnless(target, 'legacy-default-action', 'PUT is meant without an action', async () => {
        expect(await updated({}, { b: { Value: { S: 'y' } } })).toEqual({ b: { S: 'y' } })
      })

      test('DELETE removes an attribute, or members of a set', async () => {
        expect(
          await updated(
            { a: { N: '1' }, s: { SS: ['x', 'y'] }, t: { SS: ['x'] } },
            {
              a: { Action: 'DELETE' },
              s: { Action: 'DELETE', Value: { SS: ['x'] } },
              t: { Action: 'DELETE', Value: { SS: ['x'] } },
              nothing: { Action: 'DELETE' },
            },
          ),
        ).toEqual({ s: { SS: ['y'] } })
      })

      test('ADD adds to a number, to a set and to a list', async () => {
        expect(
          await updated(
            { n: { N: '1' }, s: { SS: ['x'] }, l: { L: [{ N: '1' }] } },
            {
              n: { Action: 'ADD', Value: { N: '0.5' } },
              s: { Action: 'ADD', Value: { SS: ['x'] } },
              l: { Action: 'ADD', Value: { L: [{ N: '2' }] } },
              m: { Action: 'ADD', Value: { N: '5' } },
            },
          ),
        ).toEqual({
          n: { N: '1.5' },
          s: { SS: ['x'] },
          l: { L: [{ N: '1' }, { N: '2' }] },
          m: { N: '5' },
        })
      })

      test('no updates at all make an item of its key', async () => {
        expect(await updated({}, {})).toEqual({})
      })

      test('UPDATED_NEW shows what was put and added', async () => {
        await write(target, table, [{ ...key('shown'), n: { N: '1' }, gone: { S: 'x' } }])
        const { Attributes } = await client.send(
          new UpdateItemCommand({
            TableName: table,
            Key: key('shown'),
            AttributeUpdates: {
              n: { Action: 'ADD', Value: { N: '1' } },
              gone: { Action: 'DELETE' },
              a: { Action: 'PUT', Value: { S: 'a' } },
            },
            ReturnValues: 'UPDATED_NEW',
          }),
        )
        expect(Attributes).toEqual({ n: { N: '2' }, a: { S: 'a' } })
      })

      for (const [Action, Value] of [
        ['ADD', { SS: ['x'] }],
        ['ADD', { L: [] }],
        ['DELETE', { SS: ['x'] }],
      ] as const) {
        const type = Object.keys(Value).join()
        test(`refuses ${Action} of ${type} where a string is`, async () => {
          const change = { a: { Action, Value } }
          await expectRefusal(updated({ a: { S: 'x' } }, change), {
            message: 'Type mismatch for attribute to update',
          })
        })
      }

      refuses(target, UpdateItemCommand, { TableName: table, Key: key('a') }, [
        [
          'the condition of an expression beside it',
          {
            AttributeUpdates: { a: { Action: 'DELETE' } },
            ConditionExpression: 'attribute_exists(a)',
          },
          mixed('AttributeUpdates', 'ConditionExpression'),
        ],
        [
          'an expression beside it',
          { AttributeUpdates: { a: { Action: 'DELETE' } }, UpdateExpression: 'REMOVE a' },
          mixed('AttributeUpdates', 'UpdateExpression'),
        ],
        [
          'an update of the key',
          { AttributeUpdates: { pk: { Value: { S: 'x' } } } },
          'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
        ],
        [
          'PUT without a value',
          { AttributeUpdates: { a: { Action: 'PUT' } } },
          'One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified',
        ],
        [
          'ADD of a string',
          { AttributeUpdates: { a: { Action: 'ADD', Value: { S: 'x' } } } },
          'One or more parameter values were invalid: ADD action is not supported for the type S',
          'legacy-texts',
        ],
        [
          'DELETE of a number',
          { AttributeUpdates: { a: { Action: 'DELETE', Value: { N: '1' } } } },
          'One or more parameter values were invalid: DELETE action with value is not supported for the type N',
          'legacy-texts',
        ],
      ])
    })

    describe('Expected', () => {
      const given = { ...key('expected'), n: { N: '5' }, s: { S: 'hello' } }
      const holds = async (Expected: object, ConditionalOperator?: 'AND' | 'OR') => {
        await write(target, table, [given])
        try {
          await client.send(
            new PutItemCommand({
              TableName: table,
              Item: given,
              Expected: Expected as never,
              ...(ConditionalOperator && { ConditionalOperator }),
            }),
          )
          return true
        } catch (error) {
          if ((error as Error).name === 'ConditionalCheckFailedException') return false
          throw error
        }
      }
      const one = (ComparisonOperator: string, ...AttributeValueList: Item[string][]) => ({
        ComparisonOperator,
        ...(AttributeValueList.length > 0 && { AttributeValueList }),
      })

      const rows: [what: string, expected: object, truth: boolean, operator?: 'AND' | 'OR'][] = [
        ['Value', { n: { Value: { N: '5.0' } } }, true],
        ['another Value', { n: { Value: { N: '6' } } }, false],
        ['Exists false', { lost: { Exists: false } }, true],
        ['Exists false of what is there', { n: { Exists: false } }, false],
        ['Exists true with a Value', { n: { Exists: true, Value: { N: '5' } } }, true],
        ['EQ', { n: one('EQ', { N: '5' }) }, true],
        ['NE', { n: one('NE', { N: '5' }) }, false],
        ['LT', { n: one('LT', { N: '6' }) }, true],
        ['LE', { n: one('LE', { N: '4' }) }, false],
        ['GT', { s: one('GT', { S: 'hell' }) }, true],
        ['GE', { s: one('GE', { S: 'help' }) }, false],
        ['BETWEEN', { n: one('BETWEEN', { N: '1' }, { N: '5' }) }, true],
        ['IN', { n: one('IN', { N: '1' }, { N: '5' }) }, true],
        ['BEGINS_WITH', { s: one('BEGINS_WITH', { S: 'he' }) }, true],
        ['CONTAINS', { s: one('CONTAINS', { S: 'ell' }) }, true],
        ['NOT_CONTAINS', { s: one('NOT_CONTAINS', { S: 'ell' }) }, false],
        ['NOT_CONTAINS of another', { s: one('NOT_CONTAINS', { S: 'x' }) }, true],
        ['NOT_CONTAINS of another type', { n: one('NOT_CONTAINS', { S: 'x' }) }, true],
        ['NOT_CONTAINS of nothing', { lost: one('NOT_CONTAINS', { S: 'x' }) }, false],
        ['NE of nothing', { lost: one('NE', { S: 'x' }) }, true],
        ['NE of another type', { n: one('NE', { S: '5' }) }, true],
        ['EQ with a list', { n: one('EQ', { L: [] }) }, false],
        ['a comparison with a Value', { n: { ComparisonOperator: 'LE', Value: { N: '5' } } }, true],
        ['a name with a dot is one name', { 's.x': one('NOT_NULL') }, false],
        ['nothing at all', {}, true],
        ['NULL', { lost: one('NULL') }, true],
        ['NOT_NULL', { n: one('NOT_NULL') }, true],
        ['two of which one fails', { n: one('NOT_NULL'), lost: one('NOT_NULL') }, false],
        [
          'two of which one fails, with OR',
          { n: one('NOT_NULL'), lost: one('NOT_NULL') },
          true,
          'OR',
        ],
      ]
      for (const [what, expected, truth, operator] of rows) {
        test(`${what} is ${truth ? 'met' : 'not met'}`, async () => {
          expect(await holds(expected, operator)).toBe(truth)
        })
      }

      test('guards deletes and updates too', async () => {
        await write(target, table, [given])
        const Expected = { n: { Value: { N: '6' } } }
        const request = { TableName: table, Key: key('expected'), Expected }
        const remove = await failure(client.send(new DeleteItemCommand(request)))
        expect(remove.name).toBe('ConditionalCheckFailedException')
        const update = await failure(
          client.send(
            new UpdateItemCommand({ ...request, AttributeUpdates: { a: { Action: 'DELETE' } } }),
          ),
        )
        expect(update.name).toBe('ConditionalCheckFailedException')
        expect(await stored('expected')).toEqual(given)
      })

      refuses(target, PutItemCommand, { TableName: table, Item: key('a') }, [
        [
          'a condition beside it',
          { Expected: { a: { Exists: false } }, ConditionExpression: 'attribute_not_exists(a)' },
          mixed('Expected', 'ConditionExpression'),
        ],
        [
          'Exists true without a Value',
          { Expected: { a: { Exists: true } } },
          'One or more parameter values were invalid: Value must be provided when Exists is true for Attribute: a',
        ],
        [
          'Exists false with a Value',
          { Expected: { a: { Exists: false, Value: { S: 'x' } } } },
          'One or more parameter values were invalid: Value cannot be used when Exists is false for Attribute: a',
        ],
        [
          'a comparison with the wrong number of values',
          { Expected: { a: one('EQ', { S: 'x' }, { S: 'y' }) } },
          'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator',
        ],
        [
          'neither a Value nor anything else',
          { Expected: { a: {} } },
          'One or more parameter values were invalid: Value must be provided when Exists is null for Attribute: a',
        ],
        [
          'a comparison without a value',
          { Expected: { a: one('EQ') } },
          'One or more parameter values were invalid: Value or AttributeValueList must be used with ComparisonOperator: EQ for Attribute: a',
        ],
        [
          'a Value beside a list of values',
          { Expected: { a: { ...one('EQ', { S: 'x' }), Value: { S: 'x' } } } },
          'One or more parameter values were invalid: Value and AttributeValueList cannot be used together for Attribute: a',
        ],
        [
          'Exists beside a comparison',
          { Expected: { a: { ...one('EQ', { S: 'x' }), Exists: true } } },
          'One or more parameter values were invalid: Exists and ComparisonOperator cannot be used together for Attribute: a',
        ],
        [
          'a list of values without a comparison',
          { Expected: { a: { AttributeValueList: [{ S: 'x' }] } } },
          'One or more parameter values were invalid: AttributeValueList can only be used with a ComparisonOperator for Attribute: a',
        ],
        [
          'values of several types',
          { Expected: { a: one('IN', { S: 'x' }, { N: '1' }) } },
          'One or more parameter values were invalid: AttributeValues inside AttributeValueList must be of same type',
        ],
        [
          'an order of sets',
          { Expected: { a: one('LT', { SS: ['x'] }) } },
          'One or more parameter values were invalid: ComparisonOperator LT is not valid for SS AttributeValue type',
        ],
        [
          'a number as the beginning',
          { Expected: { a: one('BEGINS_WITH', { N: '1' }) } },
          'One or more parameter values were invalid: ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type',
        ],
        [
          'a list to be contained',
          { Expected: { a: one('CONTAINS', { L: [] }) } },
          'One or more parameter values were invalid: ComparisonOperator CONTAINS is not valid for L AttributeValue type',
        ],
        [
          'bounds in the wrong order',
          { Expected: { a: one('BETWEEN', { N: '5' }, { N: '3' }) } },
          'The BETWEEN condition was provided a range where the lower bound is greater than the upper bound',
        ],
        [
          'an operator with a single condition',
          { Expected: { a: one('NULL') }, ConditionalOperator: 'OR' },
          'ConditionalOperator can only be used when Filter or Expected has two or more elements',
        ],
        [
          'an operator between conditions that are not there',
          { ConditionalOperator: 'OR' },
          'ConditionalOperator cannot be used without Filter or Expected',
        ],
      ])
    })

    describe('KeyConditions and filters', () => {
      const find = async (input: Partial<QueryCommandInput>) => {
        const { Items } = await client.send(new QueryCommand({ TableName: composite, ...input }))
        return Items?.map((item) => Number(item['sk']?.N))
      }
      const partition: Condition = { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'p' }] }

      test('find by partition and by range of the sort key', async () => {
        expect(await find({ KeyConditions: { pk: partition } })).toEqual([0, 1, 2, 3, 4, 5])
        expect(
          await find({
            KeyConditions: {
              pk: partition,
              sk: { ComparisonOperator: 'BETWEEN', AttributeValueList: [{ N: '2' }, { N: '4' }] },
            },
          }),
        ).toEqual([2, 3, 4])
        expect(
          await find({
            KeyConditions: {
              pk: partition,
              sk: { ComparisonOperator: 'LT', AttributeValueList: [{ N: '2' }] },
            },
            ScanIndexForward: false,
          }),
        ).toEqual([1, 0])
      })

      test('QueryFilter filters, joined by AND or OR', async () => {
        const QueryFilter: Record<string, Condition> = {
          v: { ComparisonOperator: 'GT', AttributeValueList: [{ N: '8' }] },
          odd: { ComparisonOperator: 'NOT_NULL' },
        }
        const KeyConditions = { pk: partition }
        expect(await find({ KeyConditions, QueryFilter })).toEqual([3, 5])
        expect(await find({ KeyConditions, QueryFilter, ConditionalOperator: 'OR' })).toEqual([
          1, 3, 4, 5,
        ])
      })

      test('KeyConditions can be combined with a FilterExpression', async () => {
        expect(
          await find({
            KeyConditions: { pk: partition },
            FilterExpression: 'v > :v',
            ExpressionAttributeValues: { ':v': { N: '8' } },
          }),
        ).toEqual([3, 4, 5])
      })

      test('ScanFilter filters', async () => {
        const output = await client.send(
          new ScanCommand({
            TableName: composite,
            ScanFilter: { v: { ComparisonOperator: 'LE', AttributeValueList: [{ N: '1' }] } },
          }),
        )
        expect(output).toMatchObject({ Count: 2, ScannedCount: 6 })
      })

      refuses(target, QueryCommand, { TableName: composite }, [
        [
          'both kinds of key condition',
          {
            KeyConditions: { pk: partition },
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' } },
          },
          mixed('KeyConditions', 'KeyConditionExpression'),
        ],
        [
          'a partition key that is compared',
          { KeyConditions: { pk: { ComparisonOperator: 'GT', AttributeValueList: [{ S: 'p' }] } } },
          'Query key condition not supported',
        ],
        [
          'a comparison that no key allows',
          {
            KeyConditions: {
              pk: partition,
              sk: { ComparisonOperator: 'IN', AttributeValueList: [{ N: '1' }] },
            },
          },
          'Attempted conditional constraint is not an indexable operation',
        ],
        [
          'a key of another type',
          {
            KeyConditions: {
              pk: partition,
              sk: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: '1' }] },
            },
          },
          'One or more parameter values were invalid: Condition parameter type does not match schema type',
        ],
        [
          'a key that filters',
          {
            KeyConditions: { pk: partition },
            QueryFilter: { sk: { ComparisonOperator: 'EQ', AttributeValueList: [{ N: '1' }] } },
          },
          'QueryFilter can only contain non-primary key attributes: Primary key attribute: sk',
        ],
        [
          'a filter beside an expression for keys',
          {
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'p' } },
            QueryFilter: { v: { ComparisonOperator: 'NOT_NULL' } },
          },
          mixed('QueryFilter', 'KeyConditionExpression'),
        ],
        [
          'no key conditions',
          { KeyConditions: {} },
          'Conditions can be of length 1 or 2 only',
          'legacy-texts',
        ],
        [
          'three key conditions',
          { KeyConditions: { pk: partition, sk: partition, v: partition } },
          'Conditions can be of length 1 or 2 only',
        ],
      ])
    })
  })
}
