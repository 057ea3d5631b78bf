/** DeleteItem: with and without a condition, on items that are there and that are not. */
import { DeleteItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  freshName,
  missingTable,
  read,
  refuses,
  useTable,
  write,
} from './harness.ts'
import type { Target } from './target.ts'

export function deleteItem(target: Target): void {
  describe('DeleteItem', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const remove = (pk: string, input: object = {}) =>
      target.client.send(
        new DeleteItemCommand({ TableName: table, Key: { pk: { S: pk } }, ...input }),
      )
    const given = (pk: string) => write(target, table, [{ pk: { S: pk }, n: { N: '1' } }])
    const stored = (pk: string) => read(target, table, { pk: { S: pk } })

    test('removes the item', async () => {
      await given('removed')
      await remove('removed')
      expect(await stored('removed')).toBeUndefined()
    })

    test('succeeds when there is no item', async () => {
      const output = await remove('never there', { ReturnValues: 'ALL_OLD' })
      expect(output.Attributes).toBeUndefined()
    })

    test('returns the removed item with ALL_OLD and nothing otherwise', async () => {
      await given('returned')
      const output = await remove('returned', { ReturnValues: 'ALL_OLD' })
      expect(output.Attributes).toEqual({ pk: { S: 'returned' }, n: { N: '1' } })
      await given('silent')
      expect((await remove('silent')).Attributes).toBeUndefined()
    })

    test('removes the item when the condition holds', async () => {
      await given('guarded')
      await remove('guarded', {
        ConditionExpression: 'n = :n',
        ExpressionAttributeValues: { ':n': { N: '1' } },
      })
      expect(await stored('guarded')).toBeUndefined()
    })

    test('keeps the item and reports it when the condition fails', async () => {
      await given('kept')
      const error = await failure(
        remove('kept', {
          ConditionExpression: 'n > :n',
          ExpressionAttributeValues: { ':n': { N: '1' } },
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      )
      const old = { pk: { S: 'kept' }, n: { N: '1' } }
      expect(error).toMatchObject({
        name: 'ConditionalCheckFailedException',
        message: 'The conditional request failed',
        Item: old,
      })
      expect(await stored('kept')).toEqual(old)
    })

    test('fails a condition on an item that is not there', async () => {
      await expectRefusal(remove('gone', { ConditionExpression: 'attribute_exists(pk)' }), {
        name: 'ConditionalCheckFailedException',
        message: 'The conditional request failed',
      })
    })

    test('succeeds on a missing item whose condition holds', async () => {
      await expect(
        remove('gone', { ConditionExpression: 'attribute_not_exists(pk)' }),
      ).resolves.toBeDefined()
    })

    test('refuses a table that does not exist', async () => {
      await expectRefusal(remove('a', { TableName: freshName() }), missingTable(target))
    })

    const noMatch = 'The provided key element does not match the schema'
    refuses(target, DeleteItemCommand, { TableName: table, Key: { pk: { S: 'a' } } }, [
      ['a key of another type', { Key: { pk: { N: '1' } } }, noMatch, 'key-texts'],
      ['a key with another name', { Key: { id: { S: '1' } } }, noMatch, 'key-texts'],
      [
        'an empty key attribute',
        { Key: { pk: { S: '' } } },
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
      ],
      [
        'ReturnValues ALL_NEW',
        { ReturnValues: 'ALL_NEW' },
        'ReturnValues can only be ALL_OLD or NONE',
        'parameter-texts',
      ],
      [
        'an empty condition',
        { ConditionExpression: '' },
        'Invalid ConditionExpression: The expression can not be empty;',
      ],
      [
        'values without a condition',
        { ExpressionAttributeValues: { ':a': { S: 'a' } } },
        'ExpressionAttributeValues can only be specified when using expressions: ConditionExpression is null',
      ],
      [
        'values that are not used',
        {
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':a': { S: 'a' } },
        },
        'Value provided in ExpressionAttributeValues unused in expressions: keys: {:a}',
      ],
    ])
  })
}
