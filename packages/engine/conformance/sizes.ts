/** Sizes: keys, names and items, to the byte. */
import {
  DeleteItemCommand,
  DescribeTableCommand,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { expectRefusal, type Item, read, refuses, testUnless, text, useTable } from './harness.ts'
import { expected, type Target } from './target.ts'

const limit = 409_600
const tooLarge = { message: 'Item size has exceeded the maximum allowed size' }

export function sizes(target: Target): void {
  describe('sizes', () => {
    const table = useTable(target, {
      key: { pk: 'S' },
      global: { 'by-owner': { key: { owner: 'S', since: 'S' } } },
    })
    const composite = useTable(target, { key: { pk: 'S', sk: 'S' } })
    const put = (Item: Item, TableName = table) =>
      target.client.send(new PutItemCommand({ TableName, Item }))

    describe('of a table and its indexes', () => {
      const counted = useTable(target, {
        key: { pk: 'S' },
        global: {
          all: { key: { g: 'S' } },
          included: { key: { g: 'S' }, project: ['a'] },
          keys: { key: { g: 'S' }, project: 'KEYS_ONLY' },
        },
      })
      const sizesNow = async () => {
        const { Table } = await target.client.send(new DescribeTableCommand({ TableName: counted }))
        const found = Table?.GlobalSecondaryIndexes ?? []
        const indexes = found.map(({ IndexName, ItemCount, IndexSizeBytes }) => [
          IndexName,
          [ItemCount, IndexSizeBytes],
        ])
        return {
          table: [Table?.ItemCount, Table?.TableSizeBytes],
          ...(Object.fromEntries(indexes) as Record<string, number[]>),
        }
      }
      /** Key 4, g 4, a 5, n 5, m 11. */
      const whole = {
        pk: { S: 'k1' },
        g: { S: 'ggg' },
        a: { S: 'aaaa' },
        n: { N: '12345' },
        m: { M: { x: { L: [{ S: 'x' }] } } },
      }
      const projected = (of: number, all: number) => expected(target, 'index-sizes', of, all)

      test('are the sums of the sizes of what they have, after every write', async () => {
        expect(await sizesNow()).toEqual({
          table: [0, 0],
          all: [0, 0],
          included: [0, 0],
          keys: [0, 0],
        })
        await put(whole, counted)
        await put({ pk: { S: 'k2' }, a: { S: 'aaaa' } }, counted)
        expect(await sizesNow()).toEqual({
          table: [2, 29 + 9],
          all: [1, 29],
          included: [1, projected(13, 29)],
          keys: [1, projected(8, 29)],
        })
        await put({ pk: { S: 'k1' }, g: { S: 'gg' }, a: { S: 'aaaaaa' } }, counted)
        await target.client.send(
          new UpdateItemCommand({
            TableName: counted,
            Key: { pk: { S: 'k2' } },
            UpdateExpression: 'SET g = :g, b = :b',
            ExpressionAttributeValues: { ':g': { S: 'g' }, ':b': { BOOL: true } },
          }),
        )
        expect(await sizesNow()).toEqual({
          table: [2, 14 + 13],
          all: [2, 14 + 13],
          included: [2, projected(14 + 11, 14 + 13)],
          keys: [2, projected(7 + 6, 14 + 13)],
        })
        const Key = { pk: { S: 'k1' } }
        await target.client.send(new DeleteItemCommand({ TableName: counted, Key }))
        expect(await sizesNow()).toEqual({
          table: [1, 13],
          all: [1, 13],
          included: [1, projected(11, 13)],
          keys: [1, projected(6, 13)],
        })
      })
    })

    describe('of an item', () => {
      /** What the value of attribute v takes, apart from the padding: key 2 + 1, names 1 + 1. */
      const rows: [title: string, value: Item[string], bytes: number][] = [
        ['a string counts its UTF-8 bytes', { S: 'ä🔑' }, 6],
        ['binary counts its bytes', { B: new Uint8Array(100) }, 100],
        ['a boolean counts one byte', { BOOL: true }, 1],
        ['null counts one byte', { NULL: true }, 1],
        ['an empty string counts nothing', { S: '' }, 0],
        ['an empty list counts three bytes', { L: [] }, 3],
        ['an empty map counts three bytes', { M: {} }, 3],
        [
          'a list counts three bytes and one for each element',
          { L: [{ S: 'ab' }, { BOOL: true }] },
          3 + 3 + 2,
        ],
        [
          'a map counts three bytes, its names and one for each entry',
          { M: { abc: { S: 'de' } } },
          3 + 3 + 2 + 1,
        ],
        ['a set of strings counts its members', { SS: ['ab', 'cde'] }, 5],
        ['a set of binaries counts its members', { BS: [new Uint8Array(3), new Uint8Array(4)] }, 7],
      ]
      const numbers: [number: string, bytes: number][] = [
        ['0', 1],
        ['1', 2],
        ['12', 2],
        ['123', 3],
        ['-1', 3],
        ['100', 2],
        ['1.5', 3],
        ['12.34', 3],
        ['123.456', 5],
        ['3.14159', 5],
        ['123456', 4],
        ['1000.5', 4],
        ['0.05', 2],
        ['0.01234', 4],
        ['10010', 4],
        ['100100', 3],
        ['-0.001', 3],
        ['1e125', 2],
        ['1e-130', 2],
        ['9'.repeat(38), 20],
      ]
      const fits = async (value: Item[string], size: number) => {
        const item = (padding: number) => ({ pk: { S: 'k' }, v: value, p: { S: text(padding) } })
        const padding = limit - size - 'pk'.length - 'k'.length - 'v'.length - 'p'.length
        await put(item(padding))
        await expectRefusal(put(item(padding + 1)), tooLarge)
      }
      for (const [title, value, size] of rows) {
        test(title, () => fits(value, size))
      }
      for (const [number, size] of numbers) {
        test(`the number ${number} counts ${size} bytes`, () => fits({ N: number }, size))
      }

      test('counts attribute names', async () => {
        const name = 'ö'.repeat(100)
        const padding = limit - 'pk'.length - 'k'.length - 200 - 1
        const item = (more: number) => ({
          pk: { S: 'k' },
          [name]: { S: '' },
          p: { S: text(padding + more) },
        })
        await put(item(0))
        await expectRefusal(put(item(1)), tooLarge)
      })

      test('may reach 400 KB by an update and no further', async () => {
        const Key = { pk: { S: 'grown' } }
        await put({ ...Key, a: { S: text(400_000) } })
        const update = (length: number) =>
          target.client.send(
            new UpdateItemCommand({
              TableName: table,
              Key,
              UpdateExpression: 'SET b = :b',
              ExpressionAttributeValues: { ':b': { S: text(length) } },
            }),
          )
        const rest = limit - 400_000 - 'pkgrown'.length - 'ab'.length
        await update(rest)
        await expectRefusal(update(rest + 1), {
          message: 'Item size to update has exceeded the maximum allowed size',
        })
        expect((await read(target, table, Key))?.['b']?.S).toHaveLength(rest)
      })
    })

    describe('of a key', () => {
      test('partition keys may have 2,048 bytes and sort keys 1,024', async () => {
        const Item = { pk: { S: text(2048) }, sk: { S: text(1024) } }
        await put(Item, composite)
        expect(await read(target, composite, Item)).toEqual(Item)
      })

      test('partition keys that differ in their last byte are different', async () => {
        const keys = ['a', 'b'].map((last) => ({ pk: { S: text(2047) + last }, sk: { S: 'x' } }))
        for (const [n, key] of keys.entries()) {
          await put({ ...key, n: { N: `${n}` } }, composite)
        }
        expect((await read(target, composite, keys[0] ?? {}))?.['n']).toEqual({ N: '0' })
        expect((await read(target, composite, keys[1] ?? {}))?.['n']).toEqual({ N: '1' })
      })

      test('long sort keys keep their order', async () => {
        const sorts = ['a', 'b', 'c'].map((last) => text(1023) + last)
        for (const S of sorts.toReversed()) {
          await put({ pk: { S: 'long' }, sk: { S } }, composite)
        }
        const { Items } = await target.client.send(
          new QueryCommand({
            TableName: composite,
            KeyConditionExpression: 'pk = :p',
            ExpressionAttributeValues: { ':p': { S: 'long' } },
          }),
        )
        expect(Items?.map((item) => item['sk']?.S)).toEqual(sorts)
      })

      test('index keys may be as long as table keys', async () => {
        const Item = {
          pk: { S: text(2048) },
          owner: { S: text(2048) },
          since: { S: text(1024) },
        }
        await put(Item)
        const { Items } = await target.client.send(
          new QueryCommand({
            TableName: table,
            IndexName: 'by-owner',
            KeyConditionExpression: '#o = :o AND since = :s',
            ExpressionAttributeNames: { '#o': 'owner' },
            ExpressionAttributeValues: { ':o': Item.owner, ':s': Item.since },
          }),
        )
        expect(Items).toEqual([Item])
      })

      const hash =
        'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes'
      const range =
        'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes'
      refuses(target, PutItemCommand, { TableName: composite }, [
        [
          'a partition key of 2,049 bytes',
          { Item: { pk: { S: text(2049) }, sk: { S: 'x' } } },
          hash,
          'key-size-texts',
        ],
        [
          'a partition key of 1,025 characters of two bytes',
          { Item: { pk: { S: 'ö'.repeat(1025) }, sk: { S: 'x' } } },
          hash,
          'key-size-texts',
        ],
        [
          'a sort key of 1,025 bytes',
          { Item: { pk: { S: 'x' }, sk: { S: text(1025) } } },
          range,
          'key-size-texts',
        ],
      ])
      refuses(target, GetItemCommand, { TableName: composite }, [
        [
          'reading a partition key of 2,049 bytes',
          { Key: { pk: { S: text(2049) }, sk: { S: 'x' } } },
          hash,
          'key-size-texts',
        ],
        [
          'reading a sort key of 1,025 bytes',
          { Key: { pk: { S: 'x' }, sk: { S: text(1025) } } },
          range,
          'key-size-texts',
        ],
      ])
      const indexed = (Item: Item) => ({ Item: { pk: { S: 'x' }, ...Item } })
      refuses(target, PutItemCommand, { TableName: table }, [
        [
          'an index partition key of 2,049 bytes',
          indexed({ owner: { S: text(2049) }, since: { S: 'x' } }),
          /One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of ?2048 bytes/,
          'key-size-texts',
        ],
        [
          'an index sort key of 1,025 bytes',
          indexed({ owner: { S: 'x' }, since: { S: text(1025) } }),
          /One or more parameter values were invalid: .*1024 bytes/,
          'key-size-texts',
        ],
      ])
    })

    describe('of a start key of an index', () => {
      const query = {
        KeyConditionExpression: '#o = :o',
        ExpressionAttributeNames: { '#o': 'owner' },
        ExpressionAttributeValues: { ':o': { S: 'x' } },
      }
      const startAt = (owner: string, since: string) => ({
        TableName: table,
        IndexName: 'by-owner',
        ExclusiveStartKey: { pk: { S: 'k' }, owner: { S: owner }, since: { S: since } },
      })
      const scan = (input: ReturnType<typeof startAt>) => target.client.send(new ScanCommand(input))
      const find = (input: ReturnType<typeof startAt>) =>
        target.client.send(new QueryCommand({ ...input, ...query }))
      const message = 'The provided starting key is invalid'

      test('may be as long as a key of the index', async () => {
        expect((await scan(startAt(text(2048), text(1024)))).Items).toBeDefined()
        expect((await find(startAt('x', text(1024)))).Items).toBeDefined()
      })

      testUnless(target, 'long-start-keys', 'may not be longer', async () => {
        await expectRefusal(scan(startAt(text(2049), 'y')), { message })
        await expectRefusal(scan(startAt('x', text(1025))), { message })
        await expectRefusal(find(startAt('x', text(1025))), { message })
      })

      test('may not be empty', async () => {
        const empty = {
          message: `${message}: One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: by-owner, IndexKey: since`,
        }
        await expectRefusal(scan(startAt('x', '')), empty)
        await expectRefusal(find(startAt('x', '')), empty)
      })
    })

    describe('of an attribute name', () => {
      testUnless(target, 'long-attribute-names', 'may be 65,535 bytes', async () => {
        const name = text(65_535)
        await put({ pk: { S: 'name' }, [name]: { S: 'x' } })
        expect((await read(target, table, { pk: { S: 'name' } }))?.[name]).toEqual({ S: 'x' })
      })

      const tooLong = 'Attribute name is too large, must be less than 65536 bytes'
      const Key = { pk: { S: 'name' } }

      testUnless(target, 'long-attribute-names', 'may not be 65,536 bytes', async () => {
        await expectRefusal(put({ ...Key, [text(65_536)]: { S: 'x' } }), { message: tooLong })
      })

      const projected = (input: object) =>
        target.client.send(new GetItemCommand({ TableName: table, Key, ...input }))
      const named = (length: number) => ({
        ProjectionExpression: '#n',
        ExpressionAttributeNames: { '#n': text(length) },
      })

      test('may be 65,535 bytes in a projection, and not more', async () => {
        await projected(named(65_535))
        await expectRefusal(projected(named(65_536)), {
          message: `ExpressionAttributeNames contains invalid value: ${tooLong} for key #n`,
        })
      })

      test('may be 65,535 bytes in AttributesToGet', async () => {
        const AttributesToGet = [text(65_535)]
        const { Item = {} } = await projected({ AttributesToGet })
        expect(Object.keys(Item).every((name) => name === AttributesToGet[0])).toBe(true)
      })

      testUnless(target, 'long-attributes-to-get', 'and not more in AttributesToGet', async () => {
        await expectRefusal(projected({ AttributesToGet: [text(65_536)] }), { message: tooLong })
      })

      testUnless(target, 'long-attribute-names', 'and not more in legacy parameters', async () => {
        const name = text(65_536)
        const update = (input: object) =>
          target.client.send(new UpdateItemCommand({ TableName: table, Key, ...input }))
        const AttributeUpdates = { [name]: { Action: 'DELETE' } }
        await expectRefusal(update({ AttributeUpdates }), { message: tooLong })
        const Expected = { [name]: { Exists: false } }
        await expectRefusal(update({ Expected }), { message: tooLong })
      })
    })
  })
}
