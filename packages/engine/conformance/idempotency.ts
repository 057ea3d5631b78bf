/** ClientRequestToken: a repeated transaction takes effect once. */
import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  failure,
  type Item,
  read,
  refuses,
  text,
  useTable,
  write,
} from './harness.ts'
import type { Target } from './target.ts'

export function idempotency(target: Target): void {
  describe('a client request token', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const token = () => `token-${Math.random().toString(36).slice(2)}`
    const add = (pk: string, n: string, ClientRequestToken?: string) =>
      target.client.send(
        new TransactWriteItemsCommand({
          TransactItems: [
            {
              Update: {
                TableName: table,
                Key: { pk: { S: pk } },
                UpdateExpression: 'ADD n :n',
                ExpressionAttributeValues: { ':n': { N: n } },
              },
            },
          ],
          ...(ClientRequestToken && { ClientRequestToken }),
        }),
      )
    const counted = async (pk: string): Promise<Item | undefined> =>
      read(target, table, { pk: { S: pk } })

    test('makes a repeated request take effect once', async () => {
      const same = token()
      await add('once', '1', same)
      await add('once', '1', same)
      await add('once', '1', same)
      expect(await counted('once')).toEqual({ pk: { S: 'once' }, n: { N: '1' } })
    })

    test('of another value is another request', async () => {
      await add('twice', '1', token())
      await add('twice', '1', token())
      expect(await counted('twice')).toEqual({ pk: { S: 'twice' }, n: { N: '2' } })
    })

    test('is refused with other parameters', async () => {
      const same = token()
      await add('changed', '1', same)
      const error = await failure(add('changed', '2', same))
      expect(error.name).toBe('IdempotentParameterMismatchException')
      expect(await counted('changed')).toEqual({ pk: { S: 'changed' }, n: { N: '1' } })
    })

    test('makes simultaneous repetitions take effect once', async () => {
      const same = token()
      const results = await Promise.allSettled(
        Array.from({ length: 8 }, () => add('simultaneous', '1', same)),
      )
      const refused = results.flatMap((result) =>
        result.status === 'rejected' ? [(result.reason as Error).name] : [],
      )
      expect(refused.every((name) => name === 'TransactionInProgressException')).toBe(true)
      expect(await counted('simultaneous')).toEqual({ pk: { S: 'simultaneous' }, n: { N: '1' } })
    })

    test('of a cancelled transaction may be used again', async () => {
      const same = token()
      const once = () =>
        target.client.send(
          new TransactWriteItemsCommand({
            ClientRequestToken: same,
            TransactItems: [
              {
                Put: {
                  TableName: table,
                  Item: { pk: { S: 'after' } },
                  ConditionExpression: 'attribute_exists(pk)',
                },
              },
            ],
          }),
        )
      await expectRefusal(once(), {
        name: 'TransactionCanceledException',
        message:
          'Transaction cancelled, please refer cancellation reasons for specific reasons [ConditionalCheckFailed]',
      })
      await write(target, table, [{ pk: { S: 'after' } }])
      await once()
    })

    refuses(
      target,
      TransactWriteItemsCommand,
      { TransactItems: [{ Put: { TableName: table, Item: { pk: { S: 'a' } } } }] },
      [
        [
          'longer than 36 characters',
          { ClientRequestToken: text(37) },
          `1 validation error detected: Value '${text(37)}' at 'clientRequestToken' failed to satisfy constraint: Member must have length less than or equal to 36`,
          'parameter-texts',
        ],
      ],
    )
  })
}
