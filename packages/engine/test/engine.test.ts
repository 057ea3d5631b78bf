import { describe, expect, test } from 'vitest'
import { type Item, NumberValue } from '../src/values/types.ts'
import { freshEngine, plain, refusal } from './support/engine.ts'

const byName = ([left]: [string, unknown], [right]: [string, unknown]) => (left < right ? -1 : 1)

const putIfNew = (id: string) => ({
  Put: {
    TableName: 'plain',
    Item: { id },
    ConditionExpression: 'attribute_not_exists(id)',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
  },
})

describe('plain values in process', () => {
  test('keep their type and value', async () => {
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

test('keys that are stored alike are one item, also with halves of surrogate pairs', async () => {
  const engine = await freshEngine()
  await engine.createTable(plain)
  const put = (id: string) => ({ Put: { TableName: 'plain', Item: { id } } })
  const error = await refusal(
    engine.transactWriteItems({ TransactItems: [put('\uD800'), put('\uDFFF')] }),
  )
  expect(error.message).toBe('Transaction request cannot include multiple operations on one item')
  await engine.transactWriteItems({ TransactItems: [put('\u{1F600}'), put('\u{1F601}')] })
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
