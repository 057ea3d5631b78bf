/** BatchWriteItem: up to twenty-five puts and deletes, over several tables. */
import { BatchWriteItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import {
  expectRefusal,
  freshName,
  type Item,
  missingTable,
  read,
  refuses,
  text,
  useTable,
  write,
} from './harness.ts'
import type { Target } from './target.ts'

const put = (Item: Item): WriteRequest => ({ PutRequest: { Item } })
const remove = (Key: Item): WriteRequest => ({ DeleteRequest: { Key } })

export function batchWriteItem(target: Target): void {
  describe('BatchWriteItem', () => {
    const table = useTable(target, {
      key: { pk: 'S' },
      global: { 'by-owner': { key: { owner: 'S' } } },
    })
    const other = useTable(target, { key: { pk: 'S', sk: 'N' } })
    const batch = (RequestItems: Record<string, WriteRequest[]>) =>
      target.client.send(new BatchWriteItemCommand({ RequestItems }))
    const stored = (pk: string) => read(target, table, { pk: { S: pk } })

    test('puts and deletes in several tables, and leaves nothing unprocessed', async () => {
      await write(target, table, [{ pk: { S: 'old' } }, { pk: { S: 'replaced' }, a: { N: '1' } }])
      const output = await batch({
        [table]: [
          put({ pk: { S: 'new' } }),
          put({ pk: { S: 'replaced' }, b: { N: '2' } }),
          remove({ pk: { S: 'old' } }),
          remove({ pk: { S: 'never' } }),
        ],
        [other]: [put({ pk: { S: 'new' }, sk: { N: '1' } })],
      })
      expect(output.UnprocessedItems).toEqual({})
      expect(await stored('new')).toEqual({ pk: { S: 'new' } })
      expect(await stored('replaced')).toEqual({ pk: { S: 'replaced' }, b: { N: '2' } })
      expect(await stored('old')).toBeUndefined()
      expect(await read(target, other, { pk: { S: 'new' }, sk: { N: '1' } })).toBeDefined()
    })

    test('takes twenty-five requests', async () => {
      await batch({ [table]: Array.from({ length: 25 }, (_, n) => put({ pk: { S: `of ${n}` } })) })
      expect(await stored('of 24')).toBeDefined()
    })

    test('writes nothing when one of its requests is refused', async () => {
      const request = batch({ [table]: [put({ pk: { S: 'beside' } }), put({ pk: { S: '' } })] })
      await expectRefusal(request, { message: /empty string value/ })
      expect(await stored('beside')).toBeUndefined()
    })

    test('refuses a table that does not exist', async () => {
      const request = batch({
        [table]: [put({ pk: { S: 'x' } })],
        [freshName()]: [put({ pk: { S: 'x' } })],
      })
      await expectRefusal(request, missingTable(target))
      expect(await stored('x')).toBeUndefined()
    })

    const noMatch = 'The provided key element does not match the schema'
    const items = (...requests: WriteRequest[]) => ({ RequestItems: { [table]: requests } })
    refuses(target, BatchWriteItemCommand, {}, [
      [
        'no tables',
        { RequestItems: {} },
        'The requestItems parameter is required for BatchWriteItem',
        'parameter-texts',
      ],
      [
        'a table without requests',
        items(),
        /1 validation error detected: Value '\{.*=\[\]\}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/,
        'parameter-texts',
      ],
      [
        'twenty-six requests',
        items(...Array.from({ length: 26 }, (_, n) => put({ pk: { S: `${n}` } }))),
        /1 validation error detected: Value '\{.*\}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/s,
        'parameter-texts',
      ],
      [
        'twenty-six requests over two tables',
        {
          RequestItems: {
            [table]: Array.from({ length: 13 }, (_, n) => put({ pk: { S: `${n}` } })),
            [other]: Array.from({ length: 13 }, (_, n) =>
              put({ pk: { S: 'a' }, sk: { N: `${n}` } }),
            ),
          },
        },
        'Too many items requested for the BatchWriteItem call',
      ],
      [
        'the same item twice',
        items(put({ pk: { S: 'a' } }), put({ pk: { S: 'a' }, b: { N: '1' } })),
        'Provided list of item keys contains duplicates',
      ],
      [
        'a put and a delete of one item',
        items(put({ pk: { S: 'a' } }), remove({ pk: { S: 'a' } })),
        'Provided list of item keys contains duplicates',
      ],
      [
        'a request of no kind',
        items({}),
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
      ],
      [
        'a request of two kinds',
        items({ ...put({ pk: { S: 'a' } }), ...remove({ pk: { S: 'b' } }) }),
        'Supplied AttributeValue has more than one datatypes set, must contain exactly one of the supported datatypes',
      ],
      ['a put with a key of another type', items(put({ pk: { N: '1' } })), noMatch, 'key-texts'],
      [
        'a put with a key of a type that no key can have',
        items(put({ pk: { L: [] } })),
        noMatch,
        'key-texts',
      ],
      ['a put without its key', items(put({ a: { S: 'x' } })), noMatch, 'key-texts'],
      [
        'a delete with a key of another type',
        items(remove({ pk: { N: '1' } })),
        noMatch,
        'key-texts',
      ],
      [
        'a put with an empty key',
        items(put({ pk: { S: '' } })),
        'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk',
      ],
      [
        'a put with an index key of another type',
        items(put({ pk: { S: 'a' }, owner: { N: '1' } })),
        'One or more parameter values were invalid: Type mismatch for Index Key owner Expected: S Actual: N IndexName: by-owner',
        'key-texts',
      ],
      [
        'a put with an empty index key',
        items(put({ pk: { S: 'a' }, owner: { S: '' } })),
        'One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-owner, IndexKey: owner',
      ],
      [
        'an item larger than 400 KB',
        items(put({ pk: { S: 'a' }, body: { S: text(409_600) } })),
        'Item size has exceeded the maximum allowed size',
      ],
    ])
  })
}
