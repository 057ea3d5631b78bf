import { describe, expect, test } from 'vitest'
import { type Item, NumberValue } from '../src/values/types.ts'
import { freshEngine, movableClock, notes, plain, refusal } from './engine-support.ts'

const kilobytes = (count: number) => 'x'.repeat(count * 1024)
const ownerUnits = (units: number) => ({ 'by-owner': { CapacityUnits: units } })
const byName = ([left]: [string, unknown], [right]: [string, unknown]) => (left < right ? -1 : 1)

const putIfNew = (id: string) => ({
  Put: {
    TableName: 'plain',
    Item: { id },
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  },
})

const owned = (sk: number) => ({
  pk: 'p',
  sk,
  owner: 'ada',
  since: 100 - sk,
  title: `t${sk}`,
  body: 'hidden',
})

describe('plain values in process', () => {
  test('come back as they were stored, every type of them', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const Item = {
      id: 'all',
      text: '',
      number: -0.5,
      long: new NumberValue('12345678901234567890.123456789'),
      yes: true,
      nothing: null,
      bytes: new Uint8Array([0, 1, 255]),
      list: [1, 'two', [null]],
      map: { inner: { deep: true } },
      texts: new Set(['a', 'b']),
      numbers: new Set([1, 2.5]),
      blobs: new Set([new Uint8Array([1])]),
    }
    await engine.putItem({ TableName: 'plain', Item })
    expect(await engine.getItem({ TableName: 'plain', Key: { id: 'all' } })).toEqual({ Item })
  })

  test('may have names that JavaScript reserves', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const Item: Item = JSON.parse('{"id":"names","__proto__":{"constructor":"x"},"toString":1}')
    await engine.putItem({ TableName: 'plain', Item })
    const { Item: stored = {} } = await engine.getItem({
      TableName: 'plain',
      Key: { id: 'names' },
    })
    expect(Object.entries(stored).toSorted(byName)).toEqual(Object.entries(Item).toSorted(byName))
    expect(Object.getPrototypeOf(stored)).toBe(Object.prototype)
  })

  test('that DynamoDB does not have are refused', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const foreign = [undefined, Number.NaN, Infinity, 1n, () => 1, Symbol('x'), new Date()]
    const refusals = foreign.map(async (value) => {
      const Item = { id: 'odd', value } as never
      return (await refusal(engine.putItem({ TableName: 'plain', Item }))).name
    })
    expect(await Promise.all(refusals)).toEqual(foreign.map(() => 'ValidationException'))
  })

  test('are stored as they were when the call was made', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const Item = { id: 'mine', list: [1], bytes: new Uint8Array([1]) }
    const writing = engine.putItem({ TableName: 'plain', Item })
    Item.list.push(2)
    Item.bytes[0] = 9
    await writing
    expect(await engine.getItem({ TableName: 'plain', Key: { id: 'mine' } })).toEqual({
      Item: { id: 'mine', list: [1], bytes: new Uint8Array([1]) },
    })
  })

  test('make no difference to a stored item when they are changed after reading', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await engine.putItem({ TableName: 'plain', Item: { id: 'safe', list: [1] } })
    const { Item: first = {} } = await engine.getItem({ TableName: 'plain', Key: { id: 'safe' } })
    const list = first['list'] as number[]
    list.push(2)
    const second = await engine.getItem({ TableName: 'plain', Key: { id: 'safe' } })
    expect(second.Item).toEqual({ id: 'safe', list: [1] })
  })
})

describe('failures in process', () => {
  test("carry AWS's name, and the item that failed a condition as plain values", async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const Item = { id: 'a', tags: new Set(['x']) }
    await engine.putItem({ TableName: 'plain', Item })
    const error = await refusal(
      engine.putItem({
        TableName: 'plain',
        Item: { id: 'a' },
        ConditionExpression: 'attribute_not_exists(id)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
      }),
    )
    expect(error).toMatchObject({ name: 'ConditionalCheckFailedException', statusCode: 400, Item })
  })

  test('of a transaction name the reason of every action', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await engine.putItem({ TableName: 'plain', Item: { id: 'taken', by: 'me' } })
    const error = await refusal(
      engine.transactWriteItems({ TransactItems: [putIfNew('free'), putIfNew('taken')] }),
    )
    expect(error).toMatchObject({
      name: 'TransactionCanceledException',
      message:
        'Transaction cancelled, please refer cancellation reasons for specific reasons [None, ConditionalCheckFailed]',
      CancellationReasons: [
        { Code: 'None' },
        {
          Code: 'ConditionalCheckFailed',
          Message: 'The conditional request failed',
          Item: { id: 'taken', by: 'me' },
        },
      ],
    })
    expect(await engine.getItem({ TableName: 'plain', Key: { id: 'free' } })).toEqual({})
  })

  test('are rejections even where the request is no request at all', async () => {
    const engine = await freshEngine()
    for (const request of [undefined, null, 7, 'x', []]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const error = await refusal(engine.getItem(request as never))
      expect(error.name).toBe('SerializationException')
    }
  })

  test('count every constraint of a request, in one text', async () => {
    const engine = await freshEngine()
    const request = { TableName: 'a b', ReturnConsumedCapacity: 'LOTS' } as never
    expect((await refusal(engine.getItem(request))).message).toBe(
      "3 validation errors detected: Value 'LOTS' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]; Value 'a b' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+; Value null at 'key' failed to satisfy constraint: Member must not be null",
    )
  })

  test('come in order: parameters, expressions, table, key', async () => {
    const engine = await freshEngine()
    const table = { TableName: 'nowhere', Key: { id: '' } }
    const message = async (more: object) =>
      (await refusal(engine.getItem({ ...table, ...more }))).message
    expect(await message({ ExpressionAttributeNames: { '#a': 'a' } })).toContain('can only be')
    expect(await message({ ProjectionExpression: 'a b' })).toContain('Syntax error')
    expect(await message({})).toBe('Requested resource not found')
    await engine.createTable({ ...plain, TableName: 'nowhere' })
    expect(await message({})).toContain('cannot contain an empty string value. Key: id')
  })
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

describe('a client request token', () => {
  test('makes a repeated transaction happen once, and is forgotten after ten minutes', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    const add = (amount: number) =>
      engine.transactWriteItems({
        ClientRequestToken: 'same',
        TransactItems: [
          {
            Update: {
              TableName: 'plain',
              Key: { id: 'counter' },
              UpdateExpression: 'ADD n :n',
              ExpressionAttributeValues: { ':n': amount },
            },
          },
        ],
      })
    const counted = async () =>
      (await engine.getItem({ TableName: 'plain', Key: { id: 'counter' } })).Item?.['n']
    await add(1)
    await add(1)
    expect(await counted()).toBe(1)
    expect((await refusal(add(2))).name).toBe('IdempotentParameterMismatchException')
    clock.advanceSeconds(601)
    await add(2)
    expect(await counted()).toBe(3)
  })
})

describe('time to live', () => {
  test('deletes items within a sweep after their time, and no others', async () => {
    const clock = movableClock()
    const engine = await freshEngine({ clock })
    await engine.createTable(plain)
    await engine.updateTimeToLive({
      TableName: 'plain',
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
    const now = Math.floor(clock.now() / 1000)
    await engine.putItem({ TableName: 'plain', Item: { id: 'soon', expires: now + 10 } })
    await engine.putItem({ TableName: 'plain', Item: { id: 'later', expires: now + 1000 } })
    await engine.putItem({ TableName: 'plain', Item: { id: 'text', expires: 'never' } })
    expect(await engine.sweep()).toBe(0)
    clock.advanceSeconds(60)
    expect(await engine.sweep()).toBe(1)
    const { Items } = await engine.scan({ TableName: 'plain' })
    expect(Items?.map((item) => item['id']).toSorted()).toEqual(['later', 'text'])
  })

  test('is described, and cannot be enabled twice or disabled twice', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const set = (AttributeName: string, Enabled: boolean) =>
      engine.updateTimeToLive({
        TableName: 'plain',
        TimeToLiveSpecification: { AttributeName, Enabled },
      })
    const described = () => engine.describeTimeToLive({ TableName: 'plain' })
    expect((await refusal(set('at', false))).message).toBe('TimeToLive is already disabled')
    await set('at', true)
    expect(await described()).toEqual({
      TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'at' },
    })
    expect((await refusal(set('at', true))).message).toBe('TimeToLive is already enabled')
    expect((await refusal(set('other', true))).message).toContain('different AttributeName')
    await set('at', false)
    expect(await described()).toEqual({ TimeToLiveDescription: { TimeToLiveStatus: 'DISABLED' } })
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
})

describe('tables', () => {
  test('are described with what was said of them', async () => {
    const engine = await freshEngine({ region: 'eu-test-1' })
    await engine.createTable({ ...notes, Tags: [{ Key: 'team', Value: 'a' }] })
    const { Table } = await engine.describeTable({ TableName: 'notes' })
    expect(Table).toMatchObject({
      TableName: 'notes',
      TableStatus: 'ACTIVE',
      TableArn: 'arn:aws:dynamodb:eu-test-1:000000000000:table/notes',
      KeySchema: notes.KeySchema,
      AttributeDefinitions: notes.AttributeDefinitions,
      BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
    })
    const arn = Table?.TableArn ?? ''
    expect(await engine.describeTable({ TableName: arn })).toEqual({ Table })
    await engine.tagResource({ ResourceArn: arn, Tags: [{ Key: 'env', Value: 'test' }] })
    await engine.untagResource({ ResourceArn: arn, TagKeys: ['team'] })
    expect(await engine.listTagsOfResource({ ResourceArn: arn })).toEqual({
      Tags: [{ Key: 'env', Value: 'test' }],
    })
  })

  test('protected against deletion stay', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, DeletionProtectionEnabled: true })
    const error = await refusal(engine.deleteTable({ TableName: 'plain' }))
    expect(error.message).toContain('protected against deletion')
    await engine.updateTable({ TableName: 'plain', DeletionProtectionEnabled: false })
    await engine.deleteTable({ TableName: 'plain' })
    expect(await engine.listTables({})).toEqual({ TableNames: [] })
  })

  test('remember whether point-in-time recovery is wanted', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    const status = async () => {
      const output = await engine.describeContinuousBackups({ TableName: 'plain' })
      return output.ContinuousBackupsDescription?.PointInTimeRecoveryDescription
        ?.PointInTimeRecoveryStatus
    }
    const set = (PointInTimeRecoveryEnabled: boolean) =>
      engine.updateContinuousBackups({
        TableName: 'plain',
        PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled },
      })
    expect(await status()).toBe('DISABLED')
    await set(true)
    expect(await status()).toBe('ENABLED')
    await set(false)
    expect(await status()).toBe('DISABLED')
  })

  test('may be called __proto__, in every operation', async () => {
    const engine = await freshEngine()
    await engine.createTable({ ...plain, TableName: '__proto__' })
    const requests = JSON.parse('{"__proto__":[{"PutRequest":{"Item":{"id":"a"}}}]}')
    await engine.batchWriteItem({ RequestItems: requests })
    const keys = JSON.parse('{"__proto__":{"Keys":[{"id":"a"}]}}')
    const { Responses = {} } = await engine.batchGetItem({ RequestItems: keys })
    expect(Object.entries(Responses)).toEqual([['__proto__', [{ id: 'a' }]]])
  })

  test('and their items are there after the engine is closed and opened again', async () => {
    const engine = await freshEngine()
    await engine.createTable(plain)
    await engine.putItem({ TableName: 'plain', Item: { id: 'kept' } })
    const { directory } = engine.storage
    await engine.close()
    const again = await freshEngine({ directory })
    expect(await again.getItem({ TableName: 'plain', Key: { id: 'kept' } })).toEqual({
      Item: { id: 'kept' },
    })
  })
})

test('parameters of the time before expressions are refused by name', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const error = await refusal(
    engine.putItem({ TableName: 'plain', Item: { id: 'a' }, Expected: { id: {} } } as never),
  )
  expect(error.message).toBe('The parameter Expected is not supported yet: use expressions instead')
})

test('a loop of awaited reads lets others have their turn', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const others = { turns: 0 }
  const ticking = setInterval(() => (others.turns += 1), 0)
  for (let n = 0; n < 20_000 && others.turns === 0; n += 1) {
    // oxlint-disable-next-line no-await-in-loop -- that is what is tested
    await engine.getItem({ TableName: 'plain', Key: { id: 'x' } })
  }
  clearInterval(ticking)
  expect(others.turns).toBeGreaterThan(0)
})
