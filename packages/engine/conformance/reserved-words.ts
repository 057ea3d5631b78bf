/** Reserved words: refused bare in every kind of expression, in any case, and fine as placeholders. */
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { failure, read, refuses, useTable } from './harness.ts'
import type { Target } from './target.ts'

/** Common ones, the first and the last of the list, and some surprising ones. */
const reserved = [
  'ABORT ZONE name status Value data date time timestamp user users type key keys index count',
  'counter owner role roles state items ttl url uuid year hash range token source region path',
  'level limit list map text total byte number position percent comment',
].flatMap((line) => line.split(' '))

/** Words that look reserved and are not. */
const free = 'id pk email title age price price_in_cents createdAt expiresAt version'.split(' ')

export function reservedWords(target: Target): void {
  describe('reserved words', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const base = { TableName: table, Key: { pk: { S: 'a' } } }
    const complaint = (parameter: string, word: string) =>
      `Invalid ${parameter}: Attribute name is a reserved keyword; reserved keyword: ${word}`

    test('are refused bare', async () => {
      const messages = await Promise.all(
        reserved.map((word) =>
          failure(
            target.client.send(new GetItemCommand({ ...base, ProjectionExpression: word })),
          ).then(({ message }) => message),
        ),
      )
      expect(messages).toEqual(reserved.map((word) => complaint('ProjectionExpression', word)))
    })

    test('are not more than they are', async () => {
      for (const word of free) {
        const request = new GetItemCommand({ ...base, ProjectionExpression: word })
        await expect(target.client.send(request)).resolves.toBeDefined()
      }
    })

    test('may be used through placeholders and as values', async () => {
      await target.client.send(
        new UpdateItemCommand({
          ...base,
          UpdateExpression: 'SET #name = :status, plain = :status',
          ExpressionAttributeNames: { '#name': 'name' },
          ExpressionAttributeValues: { ':status': { S: 'x' } },
        }),
      )
      expect(await read(target, table, base.Key)).toEqual({
        pk: { S: 'a' },
        name: { S: 'x' },
        plain: { S: 'x' },
      })
    })

    refuses(target, PutItemCommand, { TableName: table, Item: { pk: { S: 'a' } } }, [
      [
        'one in a condition',
        { ConditionExpression: 'attribute_exists(Status)' },
        complaint('ConditionExpression', 'Status'),
      ],
      [
        'one deep in a path',
        { ConditionExpression: 'attribute_exists(a.b[0].COUNT)' },
        complaint('ConditionExpression', 'COUNT'),
      ],
    ])
    refuses(target, UpdateItemCommand, base, [
      ['one in a REMOVE', { UpdateExpression: 'REMOVE ttl' }, complaint('UpdateExpression', 'ttl')],
      [
        'one on the right of a SET',
        { UpdateExpression: 'SET a = status' },
        complaint('UpdateExpression', 'status'),
      ],
    ])
    const query = { TableName: table, ExpressionAttributeValues: { ':v': { S: 'x' } } }
    refuses(target, QueryCommand, query, [
      [
        'one in a key condition',
        { KeyConditionExpression: 'hash = :v' },
        complaint('KeyConditionExpression', 'hash'),
      ],
      [
        'one in a filter',
        { KeyConditionExpression: 'pk = :v', FilterExpression: 'name = :v' },
        complaint('FilterExpression', 'name'),
      ],
    ])
  })
}
