/** Attribute types: values are returned as stored, and invalid values are rejected. */
import {
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, read, refuses, testUnless, useTable } from './harness.ts'
import { differs, expected, type Target } from './target.ts'

const bytes = (...octets: number[]) => new Uint8Array(octets)

/** `depth` lists, one inside the other, around a string. */
function nested(depth: number): Item[string] {
  let value: Item[string] = { S: 'inner' }
  for (let level = 0; level < depth; level += 1) value = { L: [value] }
  return value
}

export function types(target: Target): void {
  describe('attribute types', () => {
    const table = useTable(target, { key: { pk: 'S' } })
    const stored = async (value: Item[string]) => {
      const Item = { pk: { S: 'value' }, value }
      await target.client.send(new PutItemCommand({ TableName: table, Item }))
      return (await read(target, table, { pk: { S: 'value' } }))?.['value']
    }

    const values: [title: string, value: Item[string]][] = [
      ['a string', { S: 'hello' }],
      ['an empty string', { S: '' }],
      ['a string of every script', { S: 'größe 鍵 🔑 \u0000\u0001 \u{10ffff} ￿' }],
      ['a string with a line break, quotes and a backslash', { S: 'a\n"b"\\\t\'c\'' }],
      ['bytes', { B: bytes(0, 1, 127, 128, 255) }],
      ['no bytes', { B: bytes() }],
      ['true', { BOOL: true }],
      ['false', { BOOL: false }],
      ['null', { NULL: true }],
      ['an empty list', { L: [] }],
      [
        'a list of every type',
        {
          L: [
            { S: '' },
            { N: '1' },
            { B: bytes(1) },
            { BOOL: false },
            { NULL: true },
            { L: [] },
            { M: {} },
            { SS: ['x'] },
            { NS: ['1'] },
            { BS: [bytes(1)] },
          ],
        },
      ],
      ['an empty map', { M: {} }],
      ['a map of maps', { M: { a: { M: { b: { M: { c: { N: '1' } } } } }, 'd.e': { S: 'dot' } } }],
      ['a set of one string', { SS: ['x'] }],
      ['a set of one number', { NS: ['1'] }],
      ['a set of one binary', { BS: [bytes(1, 2)] }],
      ['a set with an empty string', { SS: [''] }],
      ['a document of 31 levels', nested(31)],
    ]
    for (const [title, value] of values) {
      test(`${title} comes back as it was stored`, async () => {
        expect(await stored(value)).toEqual(value)
      })
    }

    describe('sets are returned in order', () => {
      const strings = ['b', '', 'a', '\u{1f511}', 'Z', '\uffee', 'ä', 'aa']
      const sorted = ['', 'Z', 'a', 'aa', 'b', 'ä', '\uffee', '\u{1f511}']
      const order = expected(target, 'set-order', sorted, [...strings].toSorted())

      test('strings by their UTF-8 bytes', async () => {
        expect(await stored({ SS: strings })).toEqual({ SS: order })
      })

      test('numbers by their value', async () => {
        const NS = ['10', '9', '-1', '2.5', '1e3', '9.00000000000000000000000000000000001']
        expect(await stored({ NS })).toEqual({
          NS: ['-1', '2.5', '9', '9.00000000000000000000000000000000001', '10', '1000'],
        })
      })

      testUnless(target, 'set-order', 'binaries by their bytes', async () => {
        const BS = [bytes(255), bytes(1, 2), bytes(1), bytes(128)]
        expect(await stored({ BS })).toEqual({
          BS: [bytes(1), bytes(1, 2), bytes(128), bytes(255)],
        })
      })

      test('by reads of every kind, and by an update', async () => {
        const Key = { pk: { S: 'sets' } }
        const SS = ['a', 'b', 'c', 'd']
        await target.client.send(
          new PutItemCommand({
            TableName: table,
            Item: { ...Key, m: { M: { s: { SS: ['d', 'b'] } } } },
          }),
        )
        const { Attributes } = await target.client.send(
          new UpdateItemCommand({
            TableName: table,
            Key,
            UpdateExpression: 'ADD m.s :added SET t = :set',
            ExpressionAttributeValues: { ':added': { SS: ['c', 'a'] }, ':set': { NS: ['2', '1'] } },
            ReturnValues: 'ALL_NEW',
          }),
        )
        const item = { ...Key, m: { M: { s: { SS } } }, t: { NS: ['1', '2'] } }
        expect(Attributes).toEqual(item)
        const found = await target.client.send(
          new QueryCommand({
            TableName: table,
            KeyConditionExpression: 'pk = :pk',
            ExpressionAttributeValues: { ':pk': Key.pk },
          }),
        )
        expect(found.Items).toEqual([item])
        const projected = await target.client.send(
          new ScanCommand({
            TableName: table,
            FilterExpression: 'pk = :pk',
            ProjectionExpression: 'm.s',
            ExpressionAttributeValues: { ':pk': Key.pk },
          }),
        )
        expect(projected.Items).toEqual([{ m: item.m }])
        const { Item } = await target.client.send(new GetItemCommand({ TableName: table, Key }))
        expect(Item).toEqual(item)
      })
    })

    const inItem = (value: object) => ({ Item: { pk: { S: 'a' }, value } })
    const wire = differs(target, 'plain-values')
    if (!wire) {
      refuses(target, PutItemCommand, { TableName: table }, [
        [
          'a value without a type',
          inItem({}),
          'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
        ],
        [
          'a value without a type deep inside a document',
          inItem({ L: [{ M: { x: {} } }] }),
          'Supplied AttributeValue is empty, must contain exactly one of the supported datatypes',
        ],
        [
          'a set with a string twice',
          inItem({ SS: ['a', 'a'] }),
          /One or more parameter values were invalid: Input collection \[a, a\] contains duplicates\.?$/,
        ],
        [
          'a set with a number twice',
          inItem({ NS: ['1', '1.0'] }),
          'Input collection contains duplicates',
        ],
        [
          'a set with a binary twice',
          inItem({ BS: [bytes(1), bytes(1)] }),
          /One or more parameter values were invalid: Input collection .*of type BS contains duplicates\.$/,
        ],
        [
          'a null that is not true',
          inItem({ NULL: false }),
          'One or more parameter values were invalid: Null attribute value types must have the value of true',
        ],
        [
          'an empty set of strings',
          inItem({ SS: [] }),
          'One or more parameter values were invalid: An string set  may not be empty',
        ],
        [
          'an empty set of numbers',
          inItem({ NS: [] }),
          'One or more parameter values were invalid: An number set  may not be empty',
        ],
        [
          'an empty set of binaries',
          inItem({ BS: [] }),
          'One or more parameter values were invalid: Binary sets should not be empty',
        ],
        [
          'a set that is empty deep inside a document',
          inItem({ M: { x: { L: [{ SS: [] }] } } }),
          'One or more parameter values were invalid: An string set  may not be empty',
        ],
      ])
    }
    refuses(target, PutItemCommand, { TableName: table }, [
      [
        'a document of 33 levels',
        inItem(nested(33)),
        'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit',
      ],
      ['a document of five hundred levels', inItem(nested(500)), /./, { id: 'deep-documents' }],
      [
        'an attribute without a name deep inside a document',
        inItem({ L: [{ M: { '': { S: 'x' } } }] }),
        'Empty attribute name',
      ],
      [
        'an attribute without a name',
        { Item: { pk: { S: 'a' }, '': { S: 'x' } } },
        'Empty attribute name',
      ],
    ])
  })
}
