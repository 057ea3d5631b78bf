import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTables } from '../src/tables.ts'
import type { Db } from '../src/db.ts'
import { retryingDb } from '../src/retrying-db.ts'
import { defineTable } from '../src/table.ts'
import { hostileDb } from '../src/testing/hostile-db.ts'
import { testStores } from '../src/testing/stores.ts'

const table = defineTable({
  name: 'things',
  description: 'Anything at all',
  partitionKey: { name: 'id', type: 'S' },
  indexes: { GSI1: { partitionKey: { name: 'kind', type: 'S' }, projection: 'ALL' } },
  pointInTimeRecovery: false,
})
const TableName = table.name

describe.each(testStores())('a hostile Db on $name', (store) => {
  let db: Db
  let close: () => Promise<void>
  let ids = 0

  beforeAll(async () => {
    ;({ db, close } = await store.open())
    await createTables(db, [table])
  })
  afterAll(() => close())

  const newId = () => `id-${++ids}`
  const read = async (id: string) =>
    (await db.getItem({ TableName, Key: { id }, ConsistentRead: true })).Item

  test('gives the same faults for the same seed and the same calls', async () => {
    const faults = async (seed: number) => {
      const hostile = hostileDb(db, { seed, throttle: 0.5 })
      const calls = Array.from({ length: 40 }, () =>
        hostile.getItem({ TableName, Key: { id: 'x' } }),
      )
      return (await Promise.allSettled(calls)).map(({ status }) => status)
    }
    expect(await faults(1)).toEqual(await faults(1))
    expect(await faults(1)).not.toEqual(await faults(2))
  })

  test('throttles and conflicts before anything is written', async () => {
    const id = newId()
    const throttling = hostileDb(db, { seed: 1, throttle: 1 })
    const conflicting = hostileDb(db, { seed: 1, conflict: 1 })
    const put = { TableName, Item: { id } }
    await expect(throttling.putItem(put)).rejects.toThrow(
      expect.objectContaining({ name: 'ThrottlingException' }),
    )
    await expect(conflicting.putItem(put)).rejects.toThrow(
      expect.objectContaining({ name: 'TransactionConflictException' }),
    )
    await expect(conflicting.transactWriteItems({ TransactItems: [{ Put: put }] })).rejects.toThrow(
      expect.objectContaining({
        name: 'TransactionCanceledException',
        CancellationReasons: [{ Code: 'TransactionConflict' }],
      }),
    )
    expect(await read(id)).toBeUndefined()
  })

  test('loses a response only after the write', async () => {
    const id = newId()
    const hostile = hostileDb(db, { seed: 1, lostResponse: 1 })
    await expect(hostile.putItem({ TableName, Item: { id } })).rejects.toThrow(
      expect.objectContaining({ name: 'TimeoutError' }),
    )
    expect(await read(id)).toEqual({ id })
  })

  test('returns stale reads of an index', async () => {
    const id = newId()
    await db.putItem({ TableName, Item: { id, kind: id } })
    const query = {
      TableName,
      IndexName: 'GSI1',
      KeyConditionExpression: 'kind = :k',
      ExpressionAttributeValues: { ':k': id },
    }
    const stale = hostileDb(db, { seed: 1, staleIndex: 1 })
    expect((await stale.query(query)).Items).toEqual([])
    expect((await hostileDb(db, { seed: 1 }).query(query)).Items).toEqual([{ id, kind: id }])
  })

  test('processes a part of a batch and reports the rest as unprocessed', async () => {
    const hostile = hostileDb(db, { seed: 3, unprocessed: 1 })
    const batch = [newId(), newId(), newId()]
    const { UnprocessedItems = {} } = await hostile.batchWriteItem({
      RequestItems: { things: batch.map((id) => ({ PutRequest: { Item: { id } } })) },
    })
    const undone = (UnprocessedItems.things ?? []).map(({ PutRequest }) => PutRequest?.Item.id)
    expect(undone.length).toBeGreaterThan(0)
    for (const id of batch) expect(await read(id)).toEqual(undone.includes(id) ? undefined : { id })
  })

  describe('behind retries', () => {
    const pauses: number[] = []
    const patient = (hostility: Parameters<typeof hostileDb>[1]) =>
      retryingDb(hostileDb(db, hostility), {
        pause: async (ms) => void pauses.push(ms),
        random: () => 1,
      })

    test('performs every throttled or conflicting write and read once', async () => {
      const id = newId()
      const on = patient({ seed: 5, throttle: 0.4, conflict: 0.4 })
      await on.putItem({ TableName, Item: { id, n: 0 } })
      for (let time = 0; time < 10; time++) {
        await on.transactWriteItems({
          TransactItems: [
            {
              Update: {
                TableName,
                Key: { id },
                UpdateExpression: 'SET n = n + :one',
                ExpressionAttributeValues: { ':one': 1 },
              },
            },
          ],
        })
      }
      expect((await on.getItem({ TableName, Key: { id } })).Item).toEqual({ id, n: 10 })
    })

    test('completes partly processed batches', async () => {
      const on = patient({ seed: 5, unprocessed: 0.7 })
      const batch = Array.from({ length: 20 }, newId)
      await on.batchWriteItem({
        RequestItems: { things: batch.map((id) => ({ PutRequest: { Item: { id } } })) },
      })
      const { Responses } = await on.batchGetItem({
        RequestItems: { things: { Keys: batch.map((id) => ({ id })) } },
      })
      expect(Responses?.things?.map(({ id }) => id).toSorted()).toEqual(batch.toSorted())
    })

    test('waits longer each time, up to a second, and gives up after eight attempts', async () => {
      pauses.length = 0
      const on = patient({ seed: 1, throttle: 1 })
      await expect(on.getItem({ TableName, Key: { id: 'x' } })).rejects.toThrow(
        expect.objectContaining({ name: 'ThrottlingException' }),
      )
      expect(pauses).toEqual([20, 40, 80, 160, 320, 640, 1000])
    })

    test('never repeats a write whose response was lost', async () => {
      const id = newId()
      await db.putItem({ TableName, Item: { id, n: 0 } })
      const on = patient({ seed: 1, lostResponse: 1 })
      const update = on.updateItem({
        TableName,
        Key: { id },
        UpdateExpression: 'ADD n :one',
        ExpressionAttributeValues: { ':one': 1 },
      })
      await expect(update).rejects.toThrow(expect.objectContaining({ name: 'TimeoutError' }))
      expect(await read(id)).toEqual({ id, n: 1 })
    })

    test('does not retry a failed condition', async () => {
      pauses.length = 0
      const id = newId()
      const put = patient({ seed: 1 }).putItem({
        TableName,
        Item: { id },
        ConditionExpression: 'attribute_exists(id)',
      })
      await expect(put).rejects.toThrow(
        expect.objectContaining({ name: 'ConditionalCheckFailedException' }),
      )
      expect(pauses).toEqual([])
    })
  })
})
