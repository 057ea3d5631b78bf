/** GetItem: whole items, projections, and keys that do not fit. */
import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, freshName, missingTable, refuses, text, useTable } from './harness.ts'
import type { Target } from './target.ts'

const noMatch = 'The provided key element does not match the schema'

export function getItem(target: Target): void {
  describe('GetItem', () => {
    const item = { pk: { S: 'a' }, sk: { N: '1' }, v: { S: 'one' }, m: { M: { x: { N: '1' } } } }
    const table = useTable(target, { key: { pk: 'S', sk: 'N' } }, [item])
    const binary = useTable(target, { key: { pk: 'B' } })
    const key = { pk: { S: 'a' }, sk: { N: '1' } }
    const get = (input: object) =>
      target.client.send(new GetItemCommand({ TableName: table, Key: key, ...input }))

    test('returns the whole item', async () => {
      expect((await get({})).Item).toEqual(item)
    })

    test('returns the item with a consistent read', async () => {
      expect((await get({ ConsistentRead: true })).Item).toEqual(item)
    })

    test('returns no Item for a key that is not there', async () => {
      const output = await get({ Key: { pk: { S: 'a' }, sk: { N: '2' } } })
      expect(output).not.toHaveProperty('Item')
    })

    test('returns only the attributes of the projection', async () => {
      const output = await get({ ProjectionExpression: 'v, m.x' })
      expect(output.Item).toEqual({ v: { S: 'one' }, m: { M: { x: { N: '1' } } } })
    })

    test('returns an empty item when the projection names nothing it has', async () => {
      expect((await get({ ProjectionExpression: 'nothing' })).Item).toEqual({})
    })

    test('does not add the key to a projection', async () => {
      expect((await get({ ProjectionExpression: 'sk' })).Item).toEqual({ sk: { N: '1' } })
    })

    test('refuses a table that does not exist', async () => {
      await expectRefusal(get({ TableName: freshName() }), missingTable(target))
    })

    describe('with a key that does not fit the table', () => {
      refuses(target, GetItemCommand, { TableName: table }, [
        ['a key without the sort key', { Key: { pk: { S: 'a' } } }, noMatch, 'key-texts'],
        ['a key without the partition key', { Key: { sk: { N: '1' } } }, noMatch, 'key-texts'],
        ['an empty key', { Key: {} }, noMatch, 'key-texts'],
        [
          'a key with one attribute too many',
          { Key: { pk: { S: 'a' }, sk: { N: '1' }, v: { S: 'x' } } },
          noMatch,
          'key-texts',
        ],
        [
          'a key with another attribute in place of the sort key',
          { Key: { pk: { S: 'a' }, v: { S: 'x' } } },
          noMatch,
          'key-texts',
        ],
        [
          'a key attribute of another type',
          { Key: { pk: { S: 'a' }, sk: { S: '1' } } },
          noMatch,
          'key-texts',
        ],
        [
          'a key attribute of a type that no key can have',
          { Key: { pk: { BOOL: true }, sk: { N: '1' } } },
          noMatch,
          'key-texts',
        ],
        [
          'an empty string in the key',
          { Key: { pk: { S: '' }, sk: { N: '1' } } },
          'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
        ],
        [
          'a partition key of 2,049 bytes',
          { Key: { pk: { S: text(2049) }, sk: { N: '1' } } },
          'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes',
          'key-size-texts',
        ],
      ])
      refuses(target, GetItemCommand, { TableName: binary }, [
        [
          'an empty binary in the key',
          { Key: { pk: { B: new Uint8Array() } } },
          'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty binary value. Key: pk',
        ],
      ])
    })

    describe('with parameters that make no sense', () => {
      refuses(target, GetItemCommand, { TableName: table, Key: key }, [
        [
          'an empty projection',
          { ProjectionExpression: '' },
          'Invalid ProjectionExpression: The expression can not be empty;',
        ],
        [
          'names without a projection',
          { ExpressionAttributeNames: { '#a': 'a' } },
          'ExpressionAttributeNames can only be specified when using expressions',
        ],
        [
          'names that are not used',
          { ProjectionExpression: 'v', ExpressionAttributeNames: { '#a': 'a' } },
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}',
        ],
        [
          'an empty map of names',
          { ProjectionExpression: 'v', ExpressionAttributeNames: {} },
          'ExpressionAttributeNames must not be empty',
        ],
        [
          'an unknown ReturnConsumedCapacity',
          { ReturnConsumedCapacity: 'ALL' },
          "1 validation error detected: Value 'ALL' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]",
          { id: 'unknown-enums' },
        ],
        [
          'no key at all',
          { Key: undefined },
          "1 validation error detected: Value null at 'key' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
      ])
    })
  })
}
