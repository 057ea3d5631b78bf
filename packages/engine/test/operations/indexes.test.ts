import { describe, expect, test } from 'vitest'
import { freshEngine, notes, plain, refusal } from '../support/engine.ts'

const kilobytes = (count: number) => 'x'.repeat(count * 1024)
const ownerUnits = (units: number) => ({ 'by-owner': { CapacityUnits: units } })

const owned = (sk: number) => ({
  pk: 'p',
  sk,
  owner: 'ada',
  since: 100 - sk,
  title: `t${sk}`,
  body: 'hidden',
})

describe('an index', () => {
  test('shows the items that have its keys, in its order, as far as it projects them', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    await engine.putItem({ TableName: 'notes', Item: owned(1) })
    await engine.putItem({ TableName: 'notes', Item: owned(2) })
    await engine.putItem({ TableName: 'notes', Item: { pk: 'p', sk: 3, owner: 'ada' } })
    const page = await engine.query({
      TableName: 'notes',
      IndexName: 'by-owner',
      KeyConditionExpression: '#o = :o',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': 'ada' },
    })
    expect(page.Items).toEqual([
      { pk: 'p', sk: 2, owner: 'ada', since: 98, title: 't2' },
      { pk: 'p', sk: 1, owner: 'ada', since: 99, title: 't1' },
    ])
  })

  test('takes any filter of a scan, and what it does not project is missing there', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    await engine.putItem({ TableName: 'notes', Item: owned(1) })
    const counted = async (FilterExpression: string) => {
      const page = await engine.scan({
        TableName: 'notes',
        IndexName: 'by-owner',
        FilterExpression,
      })
      return [page.Count, page.ScannedCount]
    }
    expect(await counted('attribute_exists(title)')).toEqual([1, 1])
    expect(await counted('attribute_exists(body)')).toEqual([0, 1])
    expect(await counted('attribute_not_exists(body)')).toEqual([1, 1])
  })

  test('added later is filled from the items that are there', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    for (let n = 0; n < 30; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- their order does not matter
      await engine.putItem({ TableName: 'plain', Item: { id: `i${n}`, shelf: n % 3, title: 'x' } })
    }
    await engine.putItem({ TableName: 'plain', Item: { id: 'odd', shelf: 'not a number' } })
    await engine.updateTable({
      TableName: 'plain',
      AttributeDefinitions: [{ AttributeName: 'shelf', AttributeType: 'N' }],
      GlobalSecondaryIndexUpdates: [
        {
          Create: {
            IndexName: 'by-shelf',
            KeySchema: [{ AttributeName: 'shelf', KeyType: 'HASH' }],
            Projection: { ProjectionType: 'KEYS_ONLY' },
          },
        },
      ],
    })
    await engine.settled()
    const { Table } = await engine.describeTable({ TableName: 'plain' })
    expect(Table).toMatchObject({
      TableStatus: 'ACTIVE',
      ItemCount: 31,
      GlobalSecondaryIndexes: [{ IndexName: 'by-shelf', IndexStatus: 'ACTIVE', ItemCount: 30 }],
      AttributeDefinitions: [
        { AttributeName: 'id', AttributeType: 'S' },
        { AttributeName: 'shelf', AttributeType: 'N' },
      ],
    })
    const page = await engine.query({
      TableName: 'plain',
      IndexName: 'by-shelf',
      KeyConditionExpression: 'shelf = :s',
      ExpressionAttributeValues: { ':s': 1 },
    })
    expect(page.Count).toBe(10)
    expect(Object.keys(page.Items?.[0] ?? {}).toSorted()).toEqual(['id', 'shelf'])
  })

  test('deleted is gone, with the definition of its key', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    await engine.updateTable({
      TableName: 'notes',
      GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'by-owner' } }],
    })
    const { Table } = await engine.describeTable({ TableName: 'notes' })
    expect(Table?.GlobalSecondaryIndexes).toBeUndefined()
    expect(Table?.AttributeDefinitions).toHaveLength(2)
    const error = await refusal(engine.scan({ TableName: 'notes', IndexName: 'by-owner' }))
    expect(error.message).toBe('The table does not have the specified index: by-owner')
  })
})

describe('capacity', () => {
  test('of reads is counted by four kilobytes, half when consistency is eventual', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await engine.putItem({ TableName: 'plain', Item: { id: 'big', body: kilobytes(9) } })
    const units = async (input: object) => {
      const output = await engine.getItem({
        TableName: 'plain',
        Key: { id: 'big' },
        ReturnConsumedCapacity: 'TOTAL',
        ...input,
      })
      return output.ConsumedCapacity
    }
    expect(await units({})).toEqual({ TableName: 'plain', CapacityUnits: 1.5 })
    expect(await units({ ConsistentRead: true })).toMatchObject({ CapacityUnits: 3 })
    expect(await units({ Key: { id: 'none' } })).toMatchObject({ CapacityUnits: 0.5 })
  })

  test('of writes counts the larger of old and new, and each index for what changes in it', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    const item = { pk: 'p', sk: 1, owner: 'ada', since: 1, title: 't', body: kilobytes(2) }
    const put = async (change: object) => {
      const output = await engine.putItem({
        TableName: 'notes',
        Item: { ...item, ...change },
        ReturnConsumedCapacity: 'INDEXES',
      })
      return output.ConsumedCapacity
    }
    expect(await put({})).toEqual({
      TableName: 'notes',
      CapacityUnits: 4,
      Table: { CapacityUnits: 3 },
      GlobalSecondaryIndexes: ownerUnits(1),
    })
    expect(await put({ body: '' })).toEqual({
      TableName: 'notes',
      CapacityUnits: 3,
      Table: { CapacityUnits: 3 },
    })
    expect(await put({ body: '', owner: 'bob' })).toMatchObject({
      CapacityUnits: 3,
      GlobalSecondaryIndexes: ownerUnits(2),
    })
  })

  test('of a transaction is double', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const written = await engine.transactWriteItems({
      TransactItems: [
        { Put: { TableName: 'plain', Item: { id: 'a' } } },
        { Put: { TableName: 'plain', Item: { id: 'b' } } },
      ],
      ReturnConsumedCapacity: 'TOTAL',
    })
    expect(written.ConsumedCapacity).toMatchObject([{ TableName: 'plain', CapacityUnits: 4 }])
    const read = await engine.transactGetItems({
      TransactItems: [{ Get: { TableName: 'plain', Key: { id: 'a' } } }],
      ReturnConsumedCapacity: 'TOTAL',
    })
    expect(read.ConsumedCapacity).toMatchObject([{ TableName: 'plain', CapacityUnits: 2 }])
  })
})

describe('pages', () => {
  test('of a large table are read without keeping the event loop to themselves', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const batches = Array.from({ length: 200 }, (_, batch) =>
      engine.batchWriteItem({
        RequestItems: {
          plain: Array.from({ length: 25 }, (__, n) => ({
            PutRequest: { Item: { id: `${batch}-${n}` } },
          })),
        },
      }),
    )
    await Promise.all(batches)
    const order: string[] = []
    const scanning = engine
      .scan({
        TableName: 'plain',
        FilterExpression: 'attribute_exists(nothing)',
      })
      .then((page) => {
        order.push('scan')
        return page
      })
    setImmediate(() => order.push('something else'))
    expect(await scanning).toMatchObject({ Count: 0, ScannedCount: 5000 })
    expect(order).toEqual(['something else', 'scan'])
  })

  test('with an expensive filter do not keep it either, however few their items', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const list = Array.from({ length: 5000 }, (_, n) => n)
    const requests = Array.from({ length: 25 }, (_, n) => ({
      PutRequest: { Item: { id: `${n}`, list } },
    }))
    await engine.batchWriteItem({ RequestItems: { plain: requests } })
    const order: string[] = []
    const scanning = engine
      .scan({
        TableName: 'plain',
        FilterExpression: Array(140).fill('contains(#l, :v)').join(' OR '),
        ExpressionAttributeNames: { '#l': 'list' },
        ExpressionAttributeValues: { ':v': -1 },
      })
      .then((page) => {
        order.push('scan')
        return page
      })
    setImmediate(() => order.push('something else'))
    expect(await scanning).toMatchObject({ Count: 0, ScannedCount: 25 })
    expect(order).toEqual(['something else', 'scan'])
  })

  test('of segments are disjoint and together the table', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    for (let n = 0; n < 40; n += 1) {
      // oxlint-disable-next-line no-await-in-loop -- their order does not matter
      await engine.putItem({ TableName: 'notes', Item: { pk: `p${n}`, sk: n } })
    }
    const segments = await Promise.all(
      [0, 1, 2].map((Segment) => engine.scan({ TableName: 'notes', Segment, TotalSegments: 3 })),
    )
    const found = segments.flatMap(({ Items }) => Items ?? []).map((item) => item['sk'] as number)
    expect(found.toSorted((left, right) => left - right)).toEqual([...Array(40).keys()])

    const [first] = segments
    const start = { pk: first?.Items?.[0]?.['pk'] ?? '', sk: first?.Items?.[0]?.['sk'] ?? 0 }
    const error = await refusal(
      engine.scan({ TableName: 'notes', Segment: 1, TotalSegments: 3, ExclusiveStartKey: start }),
    )
    expect(error.message).toBe(
      'The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 3 Segment: 1',
    )
  })

  test('of segments cut off what follows the point, and count null as not given', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    const requests = Array.from({ length: 25 }, (_, sk) => ({
      PutRequest: { Item: { pk: `p${sk}`, sk } },
    }))
    await engine.batchWriteItem({ RequestItems: { notes: requests } })
    const scanned = (Segment: number | null, TotalSegments: number | null) =>
      engine
        .handle('Scan', { TableName: 'notes', Segment, TotalSegments })
        .then((json) => JSON.parse(String(json)))
    expect(await scanned(0.9, 2.9)).toEqual(await scanned(0, 2))
    expect(await scanned(null, null)).toMatchObject({ Count: 25 })
  })

  test('of no number of items are refused', async () => {
    const engine = await freshEngine()
    await engine.createTable(notes)
    const error = await refusal(engine.scan({ TableName: 'notes', Limit: NaN }))
    expect(error.name).toBe('SerializationException')
  })
})
