/** TransactWriteItems: all or nothing, reasons by position, and what is refused before it starts. */
import {
  type CancellationReason,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  freshName,
  type Item,
  missingTable,
  read,
  refuses,
  text,
  useTable,
  write,
} from './harness.ts'
import { differs, type Target } from './target.ts'

const cancelled = (...codes: string[]) =>
  `Transaction cancelled, please refer cancellation reasons for specific reasons [${codes.join(', ')}]`

export function transactWriteItems(target: Target): void {
  describe('TransactWriteItems', () => {
    const table = useTable(target, {
      key: { pk: 'S' },
      global: { 'by-owner': { key: { owner: 'S' } } },
    })
    const other = useTable(target, { key: { pk: 'S', sk: 'N' } })
    const transact = (TransactItems: TransactWriteItem[], input: object = {}) =>
      target.client.send(new TransactWriteItemsCommand({ TransactItems, ...input }))
    const stored = (pk: string) => read(target, table, { pk: { S: pk } })
    const put = (pk: string, rest: Item = {}, input: object = {}): TransactWriteItem => ({
      Put: { TableName: table, Item: { pk: { S: pk }, ...rest }, ...input },
    })
    const ifNew = { ConditionExpression: 'attribute_not_exists(pk)' }
    const reasons = async (items: TransactWriteItem[]): Promise<CancellationReason[]> => {
      const error = await failure(transact(items))
      expect(error.name).toBe('TransactionCanceledException')
      return (error as { CancellationReasons?: CancellationReason[] }).CancellationReasons ?? []
    }

    test('puts, updates, deletes and checks in one step, over several tables', async () => {
      await write(target, table, [
        { pk: { S: 'updated' }, n: { N: '1' } },
        { pk: { S: 'deleted' } },
        { pk: { S: 'checked' }, n: { N: '1' } },
      ])
      const output = await transact([
        put('put', { v: { S: 'x' } }),
        {
          Update: {
            TableName: table,
            Key: { pk: { S: 'updated' } },
            UpdateExpression: 'SET n = n + :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
        { Delete: { TableName: table, Key: { pk: { S: 'deleted' } } } },
        {
          ConditionCheck: {
            TableName: table,
            Key: { pk: { S: 'checked' } },
            ConditionExpression: 'n = :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
        { Put: { TableName: other, Item: { pk: { S: 'put' }, sk: { N: '1' } } } },
      ])
      expect(output.ConsumedCapacity).toBeUndefined()
      expect(await stored('put')).toEqual({ pk: { S: 'put' }, v: { S: 'x' } })
      expect(await stored('updated')).toEqual({ pk: { S: 'updated' }, n: { N: '2' } })
      expect(await stored('deleted')).toBeUndefined()
      expect(await stored('checked')).toEqual({ pk: { S: 'checked' }, n: { N: '1' } })
      expect(await read(target, other, { pk: { S: 'put' }, sk: { N: '1' } })).toBeDefined()
    })

    test('changes nothing when one of its conditions fails', async () => {
      await write(target, table, [{ pk: { S: 'there' }, n: { N: '1' } }])
      const error = await failure(
        transact([
          put('not written'),
          put('there', {}, ifNew),
          {
            Update: {
              TableName: table,
              Key: { pk: { S: 'not updated' } },
              UpdateExpression: 'SET n = :one',
              ExpressionAttributeValues: { ':one': { N: '1' } },
            },
          },
        ]),
      )
      expect(error).toMatchObject({
        name: 'TransactionCanceledException',
        message: cancelled('None', 'ConditionalCheckFailed', 'None'),
        CancellationReasons: [
          { Code: 'None' },
          { Code: 'ConditionalCheckFailed', Message: 'The conditional request failed' },
          { Code: 'None' },
        ],
        $metadata: { httpStatusCode: 400 },
      })
      expect(await stored('not written')).toBeUndefined()
      expect(await stored('there')).toEqual({ pk: { S: 'there' }, n: { N: '1' } })
      expect(await stored('not updated')).toBeUndefined()
    })

    test('gives every failed action its reason, by position', async () => {
      await write(target, table, [{ pk: { S: 'one' } }, { pk: { S: 'three' } }])
      const found = await reasons([
        put('one', {}, ifNew),
        put('two', {}, ifNew),
        put('three', {}, ifNew),
      ])
      expect(found.map(({ Code }) => Code)).toEqual([
        'ConditionalCheckFailed',
        'None',
        'ConditionalCheckFailed',
      ])
    })

    test('reports the item that failed only for actions that ask for it', async () => {
      const old = { pk: { S: 'seen' }, n: { N: '1' } }
      await write(target, table, [old, { pk: { S: 'unseen' } }])
      const found = await reasons([
        put('seen', {}, { ...ifNew, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }),
        put('unseen', {}, ifNew),
        {
          ConditionCheck: {
            TableName: table,
            Key: { pk: { S: 'absent' } },
            ConditionExpression: 'attribute_exists(pk)',
            ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
          },
        },
      ])
      expect(found.map(({ Item }) => Item)).toEqual([old, undefined, undefined])
    })

    test('an update creates an item that is not there', async () => {
      await transact([
        {
          Update: {
            TableName: table,
            Key: { pk: { S: 'upserted' } },
            UpdateExpression: 'ADD n :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
        },
      ])
      expect(await stored('upserted')).toEqual({ pk: { S: 'upserted' }, n: { N: '1' } })
    })

    test('a delete of an item that is not there succeeds', async () => {
      await expect(
        transact([{ Delete: { TableName: table, Key: { pk: { S: 'never' } } } }]),
      ).resolves.toBeDefined()
    })

    test('writes a hundred items', async () => {
      await transact(Array.from({ length: 100 }, (_, n) => put(`hundred ${n}`)))
      expect(await stored('hundred 0')).toBeDefined()
      expect(await stored('hundred 99')).toBeDefined()
    })

    test('of ten simultaneous transactions on the same two items exactly one succeeds', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 10 }, (_, n) => {
          const by = { by: { N: `${n}` } }
          return transact([put('race a', by, ifNew), put('race b', by, ifNew)])
        }),
      )
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const [a, b] = [await stored('race a'), await stored('race b')]
      expect(a?.['by']).toEqual(b?.['by'])
    })

    describe('that cannot be carried out', () => {
      const update = (key: Item, expression: string, value?: Item[string]): TransactWriteItem => ({
        Update: {
          TableName: table,
          Key: key,
          UpdateExpression: expression,
          ...(value && { ExpressionAttributeValues: { ':v': value } }),
        },
      })
      const noMatch = 'The provided key element does not match the schema'
      const check = (key: Item): TransactWriteItem => ({
        ConditionCheck: { TableName: table, Key: key, ConditionExpression: 'attribute_exists(pk)' },
      })
      const rows: [title: string, item: TransactWriteItem, message: string][] = [
        [
          'a put with a key of another type',
          { Put: { TableName: table, Item: { pk: { N: '1' } } } },
          'One or more parameter values were invalid: Type mismatch for key pk expected: S actual: N',
        ],
        [
          'a put without its key',
          { Put: { TableName: table, Item: { x: { N: '1' } } } },
          'One or more parameter values were invalid: Missing the key pk in the item',
        ],
        [
          'a put with an index key of another type',
          { Put: { TableName: table, Item: { pk: { S: 'a' }, owner: { N: '1' } } } },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
        ],
        ['an update with a key of another type', update({ pk: { N: '1' } }, 'REMOVE a'), noMatch],
        [
          'a delete with a key of another type',
          { Delete: { TableName: table, Key: { pk: { N: '1' } } } },
          noMatch,
        ],
        ['a check with a key of another type', check({ pk: { N: '1' } }), noMatch],
        [
          'a check with a key that is not complete',
          {
            ConditionCheck: {
              TableName: other,
              Key: { pk: { S: 'a' } },
              ConditionExpression: 'attribute_exists(pk)',
            },
          },
          noMatch,
        ],
        [
          'an update whose operand has another type',
          update({ pk: { S: 'typed' } }, 'SET n = s + :v', { N: '1' }),
          'An operand in the update expression has an incorrect data type',
        ],
        [
          'an update through a path that is not there',
          update({ pk: { S: 'typed' } }, 'SET m.x = :v', { N: '1' }),
          'The document path provided in the update expression is invalid for update',
        ],
        [
          'an update that reads an attribute that is not there',
          update({ pk: { S: 'typed' } }, 'SET n = lost'),
          'The provided expression refers to an attribute that does not exist in the item',
        ],
        [
          'an update of the key',
          update({ pk: { S: 'a' } }, 'SET pk = :v', { S: 'b' }),
          'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key',
        ],
        [
          'an update of an index key to another type',
          {
            Update: {
              TableName: table,
              Key: { pk: { S: 'typed' } },
              UpdateExpression: 'SET #o = :v',
              ExpressionAttributeNames: { '#o': 'owner' },
              ExpressionAttributeValues: { ':v': { N: '1' } },
            },
          },
          'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
        ],
      ]
      for (const [title, item, message] of rows) {
        test(`is cancelled with a ValidationError for ${title}`, async () => {
          await write(target, table, [{ pk: { S: 'typed' }, s: { S: 'x' } }])
          const error = await failure(transact([put('beside'), item]))
          expect(await stored('beside')).toBeUndefined()
          if (differs(target, 'transaction-validation')) return
          expect(error).toMatchObject({
            name: 'TransactionCanceledException',
            message: cancelled('None', 'ValidationError'),
            CancellationReasons: [{ Code: 'None' }, { Code: 'ValidationError', Message: message }],
          })
        })
      }

      const emptyKey =
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk'
      const items = (...TransactItems: object[]) => ({ TransactItems })
      const manyPuts = Array.from({ length: 101 }, (_, n) => put(`many ${n}`))
      refuses(target, TransactWriteItemsCommand, {}, [
        ['a put with an empty key', items(put('')), emptyKey],
        [
          'a delete with an empty key',
          items({ Delete: { TableName: table, Key: { pk: { S: '' } } } }),
          emptyKey,
        ],
        ['an update with an empty key', items(update({ pk: { S: '' } }, 'REMOVE a')), emptyKey],
        ['a check with an empty key', items(check({ pk: { S: '' } })), emptyKey],
        [
          'a put with an empty index key',
          items(put('a', { owner: { S: '' } })),
          'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-owner, IndexKey: owner',
        ],
        [
          'two actions on one item',
          items(put('twice'), { Delete: { TableName: table, Key: { pk: { S: 'twice' } } } }),
          'Transaction request cannot include multiple operations on one item',
        ],
        [
          'a check of an item that another action writes',
          items(put('twice'), check({ pk: { S: 'twice' } })),
          'Transaction request cannot include multiple operations on one item',
        ],
        [
          'an action of no kind',
          items({}),
          'Invalid Request: TransactWriteRequest should contain Delete or Put or Update request',
        ],
        [
          'an action of two kinds',
          items({ ...put('a'), Delete: { TableName: table, Key: { pk: { S: 'b' } } } }),
          'TransactItems can only contain one of Check, Put, Update or Delete',
        ],
        [
          'an expression with an error in its syntax',
          items(update({ pk: { S: 'a' } }, 'SET n')),
          'Invalid UpdateExpression: Syntax error; token: "<EOF>", near: "n"',
        ],
        [
          'a condition with an error in its syntax',
          items(put('a', {}, { ConditionExpression: 'attribute_exists(' })),
          'Invalid ConditionExpression: Syntax error; token: "<EOF>", near: "("',
        ],
        [
          'a name that the expression does not use',
          items(put('a', {}, { ...ifNew, ExpressionAttributeNames: { '#a': 'a' } })),
          'Value provided in ExpressionAttributeNames unused in expressions: keys: {#a}',
        ],
        [
          'an item larger than 400 KB',
          items(put('large', { body: { S: text(409_600) } })),
          'Item size has exceeded the maximum allowed size',
        ],
        [
          'no actions',
          items(),
          "1 validation error detected: Value '[]' at 'transactItems' failed to satisfy constraint: Member must have length greater than or equal to 1",
          'parameter-texts',
        ],
        [
          'a hundred and one actions',
          items(...manyPuts),
          /1 validation error detected: Value '\[.*\]' at 'transactItems' failed to satisfy constraint: Member must have length less than or equal to 100$/s,
          'parameter-texts',
        ],
        [
          'a check without a condition',
          items({ ConditionCheck: { TableName: table, Key: { pk: { S: 'a' } } } }),
          "1 validation error detected: Value null at 'transactItems.1.member.conditionCheck.conditionExpression' failed to satisfy constraint: Member must not be null",
          'parameter-texts',
        ],
        [
          'an update without an expression',
          items({ Update: { TableName: table, Key: { pk: { S: 'a' } } } }),
          "1 validation error detected: Value null at 'transactItems.1.member.update.updateExpression' failed to satisfy constraint: Member must not be null",
          { id: 'transaction-update-expression' },
        ],
      ])

      test('is refused when a table does not exist', async () => {
        const request = transact([
          put('beside a missing table'),
          { Put: { TableName: freshName(), Item: { pk: { S: 'a' } } } },
        ])
        await expectRefusal(request, missingTable(target))
        expect(await stored('beside a missing table')).toBeUndefined()
      })

      test('is refused when its items are larger than 4 MB together', async () => {
        const request = transact(
          Array.from({ length: 11 }, (_, n) => put(`four ${n}`, { body: { S: text(400_000) } })),
        )
        const error = await failure(request)
        expect(error.name).toBe('ValidationException')
        expect(await stored('four 0')).toBeUndefined()
      })
    })
  })
}
