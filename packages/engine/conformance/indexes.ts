/** Secondary indexes: what is in them, in which order, with which attributes. */
import {
  DeleteItemCommand,
  PutItemCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { type Item, refuses, testUnless, useTable, write } from './harness.ts'
import type { Target } from './target.ts'

export function indexes(target: Target): void {
  const { client } = target

  describe('indexes', () => {
    const table = useTable(target, {
      key: { pk: 'S', sk: 'N' },
      global: {
        all: { key: { g: 'S', r: 'N' } },
        'keys-only': { key: { g: 'S' }, project: 'KEYS_ONLY' },
        included: { key: { g: 'S' }, project: ['a', 'nested'] },
        'by-sort': { key: { sk: 'N', pk: 'S' }, project: 'KEYS_ONLY' },
      },
      local: {
        'local-all': { key: { pk: 'S', l: 'S' } },
        'local-keys': { key: { pk: 'S', l: 'S' }, project: 'KEYS_ONLY' },
        'local-included': { key: { pk: 'S', l: 'S' }, project: ['a'] },
      },
    })
    const find = async (
      IndexName: string,
      name: string,
      value: Item[string],
      input: object = {},
    ) => {
      const output = await client.send(
        new QueryCommand({
          TableName: table,
          IndexName,
          KeyConditionExpression: '#k = :k',
          ExpressionAttributeNames: { '#k': name },
          ExpressionAttributeValues: { ':k': value },
          ...input,
        }),
      )
      return output.Items
    }
    const sorts = (items: Item[] | undefined) => items?.map((item) => item['sk']?.N)
    const full = {
      pk: { S: 'p' },
      sk: { N: '1' },
      g: { S: 'g' },
      r: { N: '5' },
      l: { S: 'l' },
      a: { S: 'a' },
      b: { S: 'b' },
      nested: { M: { x: { N: '1' } } },
    }
    const { pk, sk, g, l, a, nested } = full

    test('an index holds the attributes of its projection, and the keys of the table', async () => {
      await write(target, table, [full])
      expect(await find('all', 'g', g)).toEqual([full])
      expect(await find('keys-only', 'g', g)).toEqual([{ pk, sk, g }])
      expect(await find('included', 'g', g)).toEqual([{ pk, sk, g, a, nested }])
      expect(await find('by-sort', 'sk', sk)).toEqual([{ pk, sk }])
      expect(await find('local-all', 'pk', pk)).toEqual([full])
      expect(await find('local-keys', 'pk', pk)).toEqual([{ pk, sk, l }])
      expect(await find('local-included', 'pk', pk)).toEqual([{ pk, sk, l, a }])
    })

    test('a local index fetches what it does not hold, a global one does not', async () => {
      await write(target, table, [full])
      const Select = 'ALL_ATTRIBUTES'
      expect(await find('local-keys', 'pk', pk, { Select })).toEqual([full])
      expect(await find('local-keys', 'pk', pk, { ProjectionExpression: 'b, l' })).toEqual([
        { b: { S: 'b' }, l },
      ])
      expect(await find('all', 'g', g, { Select })).toEqual([full])
      expect(await find('included', 'g', g, { ProjectionExpression: 'a, nested.x' })).toEqual([
        { a, nested },
      ])
      expect(await find('included', 'g', g, { Select: 'ALL_PROJECTED_ATTRIBUTES' })).toEqual([
        { pk, sk, g, a, nested },
      ])
    })

    test('a filter may use what the index holds', async () => {
      await write(target, table, [full])
      const filter = (name: string) => ({
        FilterExpression: `${name} = :v`,
        ExpressionAttributeValues: { ':k': g, ':v': { S: name } },
      })
      expect(await find('included', 'g', g, filter('a'))).toEqual([{ pk, sk, g, a, nested }])
      expect(await find('all', 'g', g, filter('b'))).toEqual([full])
      expect(await find('all', 'g', g, filter('l'))).toEqual([full])
    })

    const missing = 'to the filter of a scan an attribute that the index does not hold is missing'
    testUnless(target, 'unprojected-filter', missing, async () => {
      await write(target, table, [full])
      for (const IndexName of ['included', 'keys-only', 'local-included']) {
        const { Items = [] } = await client.send(
          new ScanCommand({ TableName: table, IndexName, FilterExpression: 'attribute_exists(b)' }),
        )
        expect(Items, IndexName).toEqual([])
      }
    })

    test('an index is sparse: an item without all its keys is not in it', async () => {
      const item = { pk: { S: 'sparse' }, sk: { N: '1' }, g: { S: 'sparse' } }
      await write(target, table, [item])
      expect(await find('all', 'g', { S: 'sparse' })).toEqual([])
      expect(await find('keys-only', 'g', { S: 'sparse' })).toEqual([item])
      expect(await find('local-all', 'pk', { S: 'sparse' })).toEqual([])
    })

    test('an index is in the order of its sort key, and holds equal keys more than once', async () => {
      await write(
        target,
        table,
        [30, 4, 100, 4].map((rank, n) => ({
          pk: { S: `order${n}` },
          sk: { N: `${n}` },
          g: { S: 'order' },
          r: { N: `${rank}` },
        })),
      )
      const ranks = async (input: object) =>
        (await find('all', 'g', { S: 'order' }, input))?.map((item) => Number(item['r']?.N))
      expect(await ranks({})).toEqual([4, 4, 30, 100])
      expect(await ranks({ ScanIndexForward: false })).toEqual([100, 30, 4, 4])
      const range = {
        KeyConditionExpression: 'g = :k AND r BETWEEN :from AND :to',
        ExpressionAttributeNames: undefined,
        ExpressionAttributeValues: {
          ':k': { S: 'order' },
          ':from': { N: '4' },
          ':to': { N: '30' },
        },
      }
      expect(await ranks(range)).toEqual([4, 4, 30])
    })

    test('an index follows puts, updates, deletes and transactions', async () => {
      const Key = { pk: { S: 'moving' }, sk: { N: '7' } }
      const here = async (name: string) => sorts(await find('keys-only', 'g', { S: name }))
      await client.send(new PutItemCommand({ TableName: table, Item: { ...Key, g: { S: 'one' } } }))
      expect(await here('one')).toEqual(['7'])
      await client.send(new PutItemCommand({ TableName: table, Item: { ...Key, g: { S: 'two' } } }))
      expect([await here('one'), await here('two')]).toEqual([[], ['7']])
      const update = (UpdateExpression: string, values?: Item) =>
        client.send(
          new UpdateItemCommand({
            TableName: table,
            Key,
            UpdateExpression,
            ...(values && { ExpressionAttributeValues: values }),
          }),
        )
      await update('SET g = :g', { ':g': { S: 'three' } })
      expect([await here('two'), await here('three')]).toEqual([[], ['7']])
      await update('REMOVE g')
      expect(await here('three')).toEqual([])
      await client.send(
        new TransactWriteItemsCommand({
          TransactItems: [{ Put: { TableName: table, Item: { ...Key, g: { S: 'four' } } } }],
        }),
      )
      expect(await here('four')).toEqual(['7'])
      await client.send(new DeleteItemCommand({ TableName: table, Key }))
      expect(await here('four')).toEqual([])
    })

    test('an index returns a changed attribute immediately', async () => {
      const Key = { pk: { S: 'changed' }, sk: { N: '1' } }
      await write(target, table, [{ ...Key, g: { S: 'changed' }, a: { S: 'old' } }])
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key,
          UpdateExpression: 'SET a = :a',
          ExpressionAttributeValues: { ':a': { S: 'new' } },
        }),
      )
      expect(await find('included', 'g', { S: 'changed' })).toEqual([
        { ...Key, g: { S: 'changed' }, a: { S: 'new' } },
      ])
    })

    test('a local index reads consistently', async () => {
      await write(target, table, [full])
      expect(await find('local-all', 'pk', pk, { ConsistentRead: true })).toEqual([full])
    })

    test('a scan of an index holds each of its items once', async () => {
      const scanned = async (IndexName: string) => {
        const { Items = [] } = await client.send(new ScanCommand({ TableName: table, IndexName }))
        return Items.filter((item) => item['pk']?.S === 'scanned').map(
          (item) => item['sk']?.N ?? '',
        )
      }
      await write(target, table, [
        { pk: { S: 'scanned' }, sk: { N: '1' }, g: { S: 'x' }, r: { N: '1' } },
        { pk: { S: 'scanned' }, sk: { N: '2' }, g: { S: 'y' } },
        { pk: { S: 'scanned' }, sk: { N: '3' } },
      ])
      expect(await scanned('all')).toEqual(['1'])
      expect((await scanned('keys-only')).toSorted()).toEqual(['1', '2'])
      expect(await scanned('local-all')).toEqual([])
      expect((await scanned('by-sort')).toSorted()).toEqual(['1', '2', '3'])
    })

    test('pages of an index scan cover it once', async () => {
      const found: Item[] = []
      let ExclusiveStartKey: QueryCommandInput['ExclusiveStartKey']
      do {
        const output = await client.send(
          new ScanCommand({
            TableName: table,
            IndexName: 'keys-only',
            Limit: 1,
            ...(ExclusiveStartKey && { ExclusiveStartKey }),
          }),
        )
        found.push(...(output.Items ?? []))
        ExclusiveStartKey = output.LastEvaluatedKey
      } while (ExclusiveStartKey)
      const whole = await client.send(new ScanCommand({ TableName: table, IndexName: 'keys-only' }))
      expect(found).toEqual(whole.Items)
      expect(new Set(found.map((item) => JSON.stringify([item['pk'], item['sk']]))).size).toBe(
        found.length,
      )
    })

    const base = {
      TableName: table,
      IndexName: 'keys-only',
      KeyConditionExpression: 'g = :g',
      ExpressionAttributeValues: { ':g': { S: 'g' } },
    }
    refuses(target, QueryCommand, base, [
      [
        'a consistent read of a global index',
        { ConsistentRead: true },
        'Consistent reads are not supported on global secondary indexes',
      ],
      [
        'all attributes of a global index that does not hold them',
        { Select: 'ALL_ATTRIBUTES' },
        'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index keys-only because its projection type is not ALL',
      ],
      [
        'attributes that a global index does not hold',
        { ProjectionExpression: 'g, b' },
        'One or more parameter values were invalid: Global secondary index keys-only does not project [b]',
      ],
      [
        'two parts of an attribute that a global index does not hold',
        { ProjectionExpression: 'g, nested.x, nested.y' },
        'One or more parameter values were invalid: Global secondary index keys-only does not project [nested]',
      ],
      [
        'filters on attributes that a global index does not hold, in order of their names',
        { FilterExpression: 'b = :g OR a = :g' },
        'One or more parameter values were invalid: Secondary index keys-only does not project one or more filter attributes: [a, b]',
      ],
      [
        'a filter on an attribute that a local index does not hold',
        {
          IndexName: 'local-keys',
          KeyConditionExpression: 'pk = :g',
          FilterExpression: 'attribute_exists(b)',
          Select: 'ALL_ATTRIBUTES',
        },
        'One or more parameter values were invalid: Secondary index local-keys does not project one or more filter attributes: [b]',
      ],
      [
        'a filter on an attribute that a global index does not hold',
        { FilterExpression: 'b = :g' },
        'One or more parameter values were invalid: Secondary index keys-only does not project one or more filter attributes: [b]',
      ],
      [
        'a condition on the key of the table in place of the index',
        { KeyConditionExpression: 'pk = :g' },
        'Query condition missed key schema element: g',
        'key-condition-texts',
      ],
      [
        'a filter on the key of the index',
        { FilterExpression: 'attribute_exists(g)' },
        'Filter Expression can only contain non-primary key attributes: Primary key attribute: g',
      ],
      [
        'a start key without the keys of the table',
        { ExclusiveStartKey: { g: { S: 'g' } } },
        'The provided starting key is invalid',
      ],
    ])
    refuses(
      target,
      QueryCommand,
      {
        TableName: table,
        IndexName: 'local-included',
        KeyConditionExpression: 'pk = :p',
        ExpressionAttributeValues: { ':p': { S: 'p' } },
        FilterExpression: 'attribute_exists(b)',
      },
      ['ALL_ATTRIBUTES', 'COUNT', undefined].map((Select) => [
        `a filter on an attribute that a local index does not hold, with Select ${Select}`,
        { Select },
        'One or more parameter values were invalid: Secondary index local-included does not project one or more filter attributes: [b]',
      ]),
    )
    refuses(target, ScanCommand, { TableName: table, IndexName: 'all' }, [
      [
        'a consistent scan of a global index',
        { ConsistentRead: true },
        'Consistent reads are not supported on global secondary indexes',
      ],
    ])
  })
}
