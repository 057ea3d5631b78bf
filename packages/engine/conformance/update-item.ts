/** UpdateItem: creation, what ReturnValues gives back, conditions, keys. Actions: see update-expressions. */
import { TransactWriteItemsCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  freshName,
  type Item,
  missingTable,
  read,
  refuses,
  testUnless,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

export function updateItem(target: Target): void {
  describe('UpdateItem', () => {
    const table = useTable(target, {
      key: { pk: 'S' },
      global: { 'by-owner': { key: { owner: 'S', since: 'N' } } },
    })
    const update = (pk: string, input: object = {}) =>
      target.client.send(
        new UpdateItemCommand({ TableName: table, Key: { pk: { S: pk } }, ...input }),
      )
    const stored = (pk: string) => read(target, table, { pk: { S: pk } })
    const given = (item: Item) => write(target, table, [item])

    test('creates the item when there is none', async () => {
      await update('created', {
        UpdateExpression: 'SET n = :n',
        ExpressionAttributeValues: { ':n': { N: '1' } },
      })
      expect(await stored('created')).toEqual({ pk: { S: 'created' }, n: { N: '1' } })
    })

    test('creates an item of its key alone without an expression', async () => {
      await update('bare')
      expect(await stored('bare')).toEqual({ pk: { S: 'bare' } })
    })

    test('leaves an item as it is without an expression', async () => {
      await given({ pk: { S: 'same' }, n: { N: '1' } })
      await update('same')
      expect(await stored('same')).toEqual({ pk: { S: 'same' }, n: { N: '1' } })
    })

    describe('of a missing item that only removes', () => {
      const tags = { ExpressionAttributeValues: { ':tags': { SS: ['a'] } } }
      const removals: [string, object][] = [
        ['REMOVE of an attribute', { UpdateExpression: 'REMOVE nothing' }],
        ['REMOVE of a path', { UpdateExpression: 'REMOVE x.y, z[1]' }],
        ['DELETE from a set', { UpdateExpression: 'DELETE tags :tags', ...tags }],
        ['REMOVE and DELETE', { UpdateExpression: 'REMOVE x DELETE tags :tags', ...tags }],
        ['a legacy DELETE', { AttributeUpdates: { x: { Action: 'DELETE' } } }],
        [
          'a legacy DELETE from a set',
          { AttributeUpdates: { x: { Action: 'DELETE', Value: { SS: ['a'] } } } },
        ],
      ]
      for (const [title, input] of removals) {
        testUnless(target, 'remove-from-missing', `${title} creates nothing`, async () => {
          for (const ReturnValues of ['NONE', 'ALL_OLD', 'ALL_NEW', 'UPDATED_OLD', 'UPDATED_NEW']) {
            const output = await update('only removes', {
              ...input,
              ReturnValues,
              ReturnConsumedCapacity: 'TOTAL',
            })
            expect(output.Attributes).toBeUndefined()
            expect(output.ConsumedCapacity?.CapacityUnits).toBe(1)
          }
          expect(await stored('only removes')).toBeUndefined()
        })
      }

      testUnless(target, 'remove-from-missing', 'creates nothing in a transaction', async () => {
        const Key = { pk: { S: 'only removes in a transaction' } }
        const UpdateExpression = 'REMOVE x'
        const Update = { TableName: table, Key, UpdateExpression }
        await target.client.send(new TransactWriteItemsCommand({ TransactItems: [{ Update }] }))
        expect(await stored('only removes in a transaction')).toBeUndefined()
      })

      test('creates the item if something is set as well', async () => {
        await update('sets, too', {
          UpdateExpression: 'SET n = :n REMOVE x',
          ExpressionAttributeValues: { ':n': { N: '1' } },
        })
        expect(await stored('sets, too')).toEqual({ pk: { S: 'sets, too' }, n: { N: '1' } })
      })

      test('is refused if its condition requires the item', async () => {
        await expectRefusal(
          update('not there', {
            UpdateExpression: 'REMOVE x',
            ConditionExpression: 'attribute_exists(pk)',
          }),
          { name: 'ConditionalCheckFailedException', message: 'The conditional request failed' },
        )
      })
    })

    describe('returning values', () => {
      const old: Item = {
        pk: { S: 'values' },
        a: { N: '1' },
        b: { S: 'kept' },
        m: { M: { x: { N: '1' }, y: { N: '2' } } },
        l: { L: [{ S: 'zero' }, { S: 'one' }, { S: 'two' }] },
      }
      const returned = async (ReturnValues: string, expression: string, values?: Item) => {
        await given(old)
        const output = await update('values', {
          UpdateExpression: expression,
          ReturnValues,
          ...(values && { ExpressionAttributeValues: values }),
        })
        return output.Attributes
      }
      const value = { ':v': { N: '9' } }

      const cases: [
        what: string,
        expression: string,
        Item | undefined,
        returned: Item | undefined,
      ][] = [
        ['NONE', 'SET a = :v', value, undefined],
        ['ALL_OLD', 'SET a = :v', value, old],
        ['ALL_NEW', 'SET a = :v', value, { ...old, a: { N: '9' } }],
        ['UPDATED_OLD', 'SET a = :v', value, { a: { N: '1' } }],
        ['UPDATED_NEW', 'SET a = :v', value, { a: { N: '9' } }],
        ['UPDATED_OLD', 'SET c = :v', value, undefined],
        ['UPDATED_NEW', 'SET c = :v', value, { c: { N: '9' } }],
        ['UPDATED_OLD', 'REMOVE a', undefined, { a: { N: '1' } }],
        ['UPDATED_NEW', 'REMOVE a', undefined, undefined],
        ['UPDATED_OLD', 'SET c = :v REMOVE a', value, { a: { N: '1' } }],
        ['UPDATED_NEW', 'SET c = :v REMOVE a', value, { c: { N: '9' } }],
        ['UPDATED_OLD', 'SET m.x = :v', value, { m: { M: { x: { N: '1' } } } }],
        ['UPDATED_NEW', 'SET m.x = :v', value, { m: { M: { x: { N: '9' } } } }],
        ['UPDATED_NEW', 'SET m.z = :v', value, { m: { M: { z: { N: '9' } } } }],
        ['UPDATED_OLD', 'SET m.z = :v', value, undefined],
        ['UPDATED_OLD', 'SET l[1] = :v', value, { l: { L: [{ S: 'one' }] } }],
        ['UPDATED_NEW', 'SET l[1] = :v', value, { l: { L: [{ N: '9' }] } }],
        ['UPDATED_NEW', 'SET l[0] = :v, l[2] = :v', value, { l: { L: [{ N: '9' }, { N: '9' }] } }],
        [
          'UPDATED_NEW',
          'SET m.x = :v, a = :v',
          value,
          { m: { M: { x: { N: '9' } } }, a: { N: '9' } },
        ],
        ['UPDATED_NEW', 'ADD a :v', value, { a: { N: '10' } }],
      ]
      for (const [what, expression, values, answer] of cases) {
        const result = answer === undefined ? 'nothing' : JSON.stringify(answer)
        const isNested = answer !== undefined && /^UPDATED.*(m\.|l\[)/.test(what + expression)
        const check = isNested && differs(target, 'updated-nested') ? test.fails : test
        check(`${what} of "${expression}" is ${result}`, async () =>
          expect(await returned(what, expression, values)).toEqual(answer),
        )
      }

      test('ALL_OLD of an item that was not there is nothing', async () => {
        const output = await update('never', {
          UpdateExpression: 'REMOVE x',
          ReturnValues: 'ALL_OLD',
        })
        expect(output.Attributes).toBeUndefined()
      })

      test('ALL_NEW of an item that was not there has its key', async () => {
        const output = await update('fresh', { ReturnValues: 'ALL_NEW' })
        expect(output.Attributes).toEqual({ pk: { S: 'fresh' } })
      })
    })

    describe('with a condition', () => {
      const decrement = {
        UpdateExpression: 'SET n = n - :one',
        ConditionExpression: 'n >= :one',
        ExpressionAttributeValues: { ':one': { N: '1' } },
      }

      test('changes nothing when the condition fails', async () => {
        await given({ pk: { S: 'empty' }, n: { N: '0' } })
        const error = await failure(
          update('empty', { ...decrement, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        )
        expect(error).toMatchObject({
          name: 'ConditionalCheckFailedException',
          message: 'The conditional request failed',
          Item: { pk: { S: 'empty' }, n: { N: '0' } },
        })
        expect(await stored('empty')).toEqual({ pk: { S: 'empty' }, n: { N: '0' } })
      })

      test('creates no item when the condition fails on a missing one', async () => {
        await expectRefusal(update('missing', decrement), {
          name: 'ConditionalCheckFailedException',
          message: 'The conditional request failed',
        })
        expect(await stored('missing')).toBeUndefined()
      })

      test('of thirty simultaneous takers of ten pieces exactly ten succeed', async () => {
        await given({ pk: { S: 'stock' }, n: { N: '10' } })
        const results = await Promise.allSettled(
          Array.from({ length: 30 }, () => update('stock', decrement)),
        )
        expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
        expect(await stored('stock')).toEqual({ pk: { S: 'stock' }, n: { N: '0' } })
      })
    })

    test('twenty simultaneous additions are all counted', async () => {
      await Promise.all(
        Array.from({ length: 20 }, () =>
          update('counter', {
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          }),
        ),
      )
      expect(await stored('counter')).toEqual({ pk: { S: 'counter' }, n: { N: '20' } })
    })

    test('refuses a table that does not exist', async () => {
      await expectRefusal(update('a', { TableName: freshName() }), missingTable(target))
    })

    const noMatch = 'The provided key element does not match the schema'
    const set = (expression: string, value: object) => ({
      UpdateExpression: expression,
      ExpressionAttributeValues: { ':v': value },
    })
    refuses(target, UpdateItemCommand, { TableName: table, Key: { pk: { S: 'refused' } } }, [
      ['a key of another type', { Key: { pk: { N: '1' } } }, noMatch, 'key-texts'],
      ['a key that is not complete', { Key: {} }, noMatch, 'key-texts'],
      [
        'a new value for the key',
        set('SET pk = :v', { S: 'other' }),
        'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
      ],
      [
        'the same value for the key',
        set('SET pk = :v', { S: 'refused' }),
        'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
      ],
      [
        'removing the key',
        { UpdateExpression: 'REMOVE pk' },
        'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
      ],
    ])
    refuses(
      target,
      UpdateItemCommand,
      {
        TableName: table,
        Key: { pk: { S: 'refused' } },
        UpdateExpression: 'SET #o = :v',
        ExpressionAttributeNames: { '#o': 'owner' },
      },
      [
        [
          'an index key of another type',
          { ExpressionAttributeValues: { ':v': { N: '1' } } },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
          'key-texts',
        ],
        [
          'an empty index key',
          { ExpressionAttributeValues: { ':v': { S: '' } } },
          'One or more parameter values are not valid. The update expression attempted to update a secondary index key to a value that is not supported. The AttributeValue for a key attribute cannot contain an empty string value.',
        ],
      ],
    )
    refuses(target, UpdateItemCommand, { TableName: table, Key: { pk: { S: 'refused' } } }, [
      [
        'an unknown ReturnValues',
        { ReturnValues: 'SOME' },
        "1 validation error detected: Value 'SOME' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]",
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
        'ExpressionAttributeValues can only be specified when using expressions: UpdateExpression and ConditionExpression are null',
      ],
    ])
  })
}
