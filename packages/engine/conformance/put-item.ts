/** PutItem: what it stores, what it returns, and what it refuses. */
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  freshName,
  missingTable,
  read,
  refuses,
  useTable,
} from './harness.ts'
import type { Target } from './target.ts'

export function putItem(target: Target): void {
  describe('PutItem', () => {
    const simple = useTable(target, { key: { pk: 'S' } })
    const composite = useTable(target, {
      key: { pk: 'S', sk: 'N' },
      global: { 'by-owner': { key: { owner: 'S' } }, 'by-photo': { key: { photo: 'B' } } },
      local: { 'by-time': { key: { pk: 'S', time: 'N' } } },
    })
    const put = (input: object) =>
      target.client.send(new PutItemCommand({ TableName: simple, Item: {}, ...input }))

    test('stores an item that can be read back attribute for attribute', async () => {
      const Item = { pk: { S: 'whole' }, name: { S: 'Ada' }, born: { N: '1815' } }
      await put({ Item })
      expect(await read(target, simple, { pk: { S: 'whole' } })).toEqual(Item)
    })

    test('replaces the whole item, not only the attributes given', async () => {
      await put({ Item: { pk: { S: 'replaced' }, old: { S: 'x' }, both: { S: 'x' } } })
      await put({ Item: { pk: { S: 'replaced' }, both: { S: 'y' } } })
      expect(await read(target, simple, { pk: { S: 'replaced' } })).toEqual({
        pk: { S: 'replaced' },
        both: { S: 'y' },
      })
    })

    test('stores an item that consists of its key alone', async () => {
      await put({ Item: { pk: { S: 'bare' } } })
      expect(await read(target, simple, { pk: { S: 'bare' } })).toEqual({ pk: { S: 'bare' } })
    })

    test('returns no attributes unless asked', async () => {
      await put({ Item: { pk: { S: 'silent' } } })
      const output = await put({ Item: { pk: { S: 'silent' } } })
      expect(output.Attributes).toBeUndefined()
      expect(output.ConsumedCapacity).toBeUndefined()
    })

    test('returns the item it replaced with ALL_OLD', async () => {
      await put({ Item: { pk: { S: 'returned' }, n: { N: '1' } } })
      const output = await put({
        Item: { pk: { S: 'returned' }, n: { N: '2' } },
        ReturnValues: 'ALL_OLD',
      })
      expect(output.Attributes).toEqual({ pk: { S: 'returned' }, n: { N: '1' } })
    })

    test('returns no attributes with ALL_OLD when there was no item', async () => {
      const output = await put({ Item: { pk: { S: 'first' } }, ReturnValues: 'ALL_OLD' })
      expect(output.Attributes).toBeUndefined()
    })

    test('keeps attributes whose names JavaScript reserves', async () => {
      const Item = JSON.parse(
        '{"pk":{"S":"names"},"valueOf":{"S":"a"},"constructor":{"S":"b"},"toString":{"N":"1"},' +
          '"nested":{"M":{"valueOf":{"S":"c"},"hasOwnProperty":{"BOOL":true}}}}',
      )
      await put({ Item })
      const stored = (await read(target, simple, { pk: { S: 'names' } })) ?? {}
      expect({ ...stored }).toEqual({ ...Item })
      expect(Object.keys(stored).toSorted()).toEqual(Object.keys(Item).toSorted())
      expect(Object.keys(stored['nested']?.M ?? {}).toSorted()).toEqual([
        'hasOwnProperty',
        'valueOf',
      ])
    })

    test('keeps attribute names with dots, brackets, spaces and any script', async () => {
      const Item = {
        pk: { S: 'odd names' },
        'a.b': { S: '1' },
        'a[0]': { S: '2' },
        'with space': { S: '3' },
        größe: { S: '4' },
        '🔑': { S: '5' },
        ':v': { S: '6' },
        '#n': { S: '7' },
      }
      await put({ Item })
      expect(await read(target, simple, { pk: { S: 'odd names' } })).toEqual(Item)
    })

    test('distinguishes keys that differ only in case', async () => {
      await put({ Item: { pk: { S: 'Case' }, v: { S: 'upper' } } })
      await put({ Item: { pk: { S: 'case' }, v: { S: 'lower' } } })
      expect((await read(target, simple, { pk: { S: 'Case' } }))?.['v']).toEqual({ S: 'upper' })
      expect((await read(target, simple, { pk: { S: 'case' } }))?.['v']).toEqual({ S: 'lower' })
    })

    test('finds an item by a number key however the number is written', async () => {
      const input = { TableName: composite, Item: { pk: { S: 'n' }, sk: { N: '100' } } }
      await target.client.send(new PutItemCommand(input))
      for (const N of ['1e2', '100.0', '0100', '1.00E+2']) {
        const item = await read(target, composite, { pk: { S: 'n' }, sk: { N } })
        expect(item, N).toEqual({ pk: { S: 'n' }, sk: { N: '100' } })
      }
    })

    describe('with a condition', () => {
      test('stores the item when the condition holds', async () => {
        const ConditionExpression = 'attribute_not_exists(pk)'
        await put({ Item: { pk: { S: 'guarded' } }, ConditionExpression })
        expect(await read(target, simple, { pk: { S: 'guarded' } })).toBeDefined()
      })

      test('leaves the item as it was when the condition fails', async () => {
        const old = { pk: { S: 'kept' }, v: { N: '1' } }
        await put({ Item: old })
        const error = await failure(
          put({
            Item: { pk: { S: 'kept' }, v: { N: '2' } },
            ConditionExpression: 'attribute_not_exists(pk)',
          }),
        )
        expect(error).toMatchObject({
          name: 'ConditionalCheckFailedException',
          message: 'The conditional request failed',
          $metadata: { httpStatusCode: 400 },
        })
        expect(error.Item).toBeUndefined()
        expect(await read(target, simple, { pk: { S: 'kept' } })).toEqual(old)
      })

      test('reports the item that failed the condition when asked for ALL_OLD', async () => {
        const old = { pk: { S: 'reported' }, v: { N: '1' } }
        await put({ Item: old })
        const error = await failure(
          put({
            Item: { pk: { S: 'reported' } },
            ConditionExpression: 'v = :v',
            ExpressionAttributeValues: { ':v': { N: '2' } },
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        )
        expect(error).toMatchObject({ name: 'ConditionalCheckFailedException', Item: old })
      })

      test('reports no item when none was there to fail the condition', async () => {
        const error = await failure(
          put({
            Item: { pk: { S: 'absent' } },
            ConditionExpression: 'attribute_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          }),
        )
        expect(error.name).toBe('ConditionalCheckFailedException')
        expect(error.Item).toBeUndefined()
      })

      test('of twenty simultaneous first writers exactly one succeeds', async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, (_, writer) =>
            put({
              Item: { pk: { S: 'race' }, writer: { N: `${writer}` } },
              ConditionExpression: 'attribute_not_exists(pk)',
            }),
          ),
        )
        const winners = results.flatMap(({ status }, writer) =>
          status === 'fulfilled' ? [writer] : [],
        )
        expect(winners).toHaveLength(1)
        const stored = await read(target, simple, { pk: { S: 'race' } })
        expect(stored?.['writer']).toEqual({ N: `${winners[0]}` })
      })
    })

    describe('of an item that does not fit the table', () => {
      refuses(target, PutItemCommand, { TableName: simple }, [
        [
          'an item without its key',
          { Item: { other: { S: 'x' } } },
          'One or more parameter values were invalid: Missing the key pk in the item',
          'key-texts',
        ],
        [
          'a key of another type',
          { Item: { pk: { N: '1' } } },
          'One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N',
          'key-texts',
        ],
        [
          'a key of a type that no key can have',
          { Item: { pk: { L: [{ S: 'x' }] } } },
          'One or more parameter values were invalid: Type mismatch for key pk expected: S actual: L',
          'key-texts',
        ],
        [
          'an empty key',
          { Item: { pk: { S: '' } } },
          'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
        ],
      ])
      refuses(target, PutItemCommand, { TableName: composite }, [
        [
          'an item without its sort key',
          { Item: { pk: { S: 'a' } } },
          'One or more parameter values were invalid: Missing the key sk in the item',
          'key-texts',
        ],
        [
          'a sort key of another type',
          { Item: { pk: { S: 'a' }, sk: { S: '1' } } },
          'One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S',
          'key-texts',
        ],
        [
          'a key attribute of a global index with another type',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, owner: { N: '1' } } },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
          'key-texts',
        ],
        [
          'a key attribute of a local index with another type',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, time: { S: '1' } } },
          'One or more parameter values were invalid: Type mismatch for Index Key time Expected: N Actual: S IndexName: by-time',
          'key-texts',
        ],
        [
          'a key attribute of an index that is null',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, owner: { NULL: true } } },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: NULL IndexName: by-owner',
          'key-texts',
        ],
        [
          'a key attribute of an index of a type that no key can have',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, owner: { M: {} } } },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: M IndexName: by-owner',
          'key-texts',
        ],
        [
          'an empty key attribute of an index',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, owner: { S: '' } } },
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-owner, IndexKey: owner',
        ],
        [
          'an empty binary key attribute of an index',
          { Item: { pk: { S: 'a' }, sk: { N: '1' }, photo: { B: new Uint8Array() } } },
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty binary value. IndexName: by-photo, IndexKey: photo',
        ],
      ])
    })

    describe('with parameters that make no sense', () => {
      refuses(target, PutItemCommand, { TableName: simple, Item: { pk: { S: 'a' } } }, [
        [
          'ReturnValues that only an update knows',
          { ReturnValues: 'UPDATED_NEW' },
          'ReturnValues can only be ALL_OLD or NONE',
          'parameter-texts',
        ],
        [
          'ReturnValues ALL_NEW',
          { ReturnValues: 'ALL_NEW' },
          'ReturnValues can only be ALL_OLD or NONE',
          'parameter-texts',
        ],
        [
          'an unknown ReturnValues',
          { ReturnValues: 'SOME' },
          '1 validation error detected: Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]',
          'parameter-texts',
        ],
        [
          'names without an expression',
          { ExpressionAttributeNames: { '#a': 'a' } },
          'ExpressionAttributeNames can only be specified when using expressions',
        ],
        [
          'values without an expression',
          { ExpressionAttributeValues: { ':a': { S: 'a' } } },
          'ExpressionAttributeValues can only be specified when using expressions',
          {
            id: 'write-prefix',
            answer:
              'ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null',
          },
        ],
      ])

      test('refuses a table that does not exist', async () => {
        const request = put({ TableName: freshName(), Item: { pk: { S: 'a' } } })
        await expectRefusal(request, missingTable(target))
      })
    })
  })
}
