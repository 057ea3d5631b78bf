import { newId } from '@strongroom/kit/ids'
import { testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MAX_TEST_REQUESTS, TEST_REQUEST_SECONDS } from '../../src/test-requests/item.ts'
import { openWorkbench, type Workbench } from '../support/test-stores.ts'

describe.each(testStores())('recorded test requests on $name', (store) => {
  let bench: Workbench
  beforeAll(async () => {
    bench = await openWorkbench({ store })
  })
  afterAll(() => bench.close())

  const userId = newId('usr')

  async function record(connectionId: string, given: { number?: number } = {}) {
    const { testRequests } = bench.stores
    const { number = await testRequests.nextNumber(connectionId) } = given
    const input = {
      connectionId,
      userId,
      number,
      eventId: newId('evt'),
      attemptNumber: 1,
      method: 'POST',
      statusCode: 200,
      bodyBytes: 3,
      hasCredentials: false,
    } as const
    await testRequests.put(input, Uint8Array.of(number % 256))
    return input
  }
  const numbers = async (connectionId: string) =>
    (await bench.stores.testRequests.listByConnection(connectionId)).map(({ number }) => number)

  test('are stored as a request, its content and the last number', async () => {
    const connectionId = newId('conn')
    const { eventId } = await record(connectionId)
    const { Items = [] } = await bench.db.query({
      TableName: 'ferryhook-events',
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': `TEST#${connectionId}` },
    })
    const now = Math.floor(bench.clock.now() / 1000)
    expect(Items).toEqual([
      {
        PK: `TEST#${connectionId}`,
        SK: 'CONTENT#1',
        number: 1,
        content: Uint8Array.of(1),
        expiresAt: now + 86_400,
      },
      { PK: `TEST#${connectionId}`, SK: 'COUNTER', number: 1, expiresAt: now + 172_800 },
      {
        PK: `TEST#${connectionId}`,
        SK: 'REQ#1',
        connectionId,
        userId,
        number: 1,
        eventId,
        attemptNumber: 1,
        method: 'POST',
        statusCode: 200,
        bodyBytes: 3,
        hasCredentials: false,
        receivedAt: bench.clock.now(),
        expiresAt: now + 86_400,
      },
    ])
  })

  test('are the latest twenty of a connection, newest first, also of concurrent workers', async () => {
    const connectionId = newId('conn')
    await Promise.all(Array.from({ length: 50 }, () => record(connectionId)))
    const latest = Array.from({ length: MAX_TEST_REQUESTS }, (_, index) => 50 - index)
    expect(await numbers(connectionId)).toEqual(latest)
    for (const number of latest) {
      const found = await bench.stores.testRequests.get(connectionId, number)
      expect([found?.request.number, found?.content]).toEqual([number, Uint8Array.of(number)])
    }
    expect(await bench.stores.testRequests.get(connectionId, 30)).toBeUndefined()
    expect(await numbers(newId('conn'))).toEqual([])
  })

  test('are not replaced by an older request that is written late', async () => {
    const connectionId = newId('conn')
    await record(connectionId, { number: 21 })
    await record(connectionId, { number: 1 })
    expect(await numbers(connectionId)).toEqual([21])
  })

  test('expire after a day, even if they are still stored, and then give way to any', async () => {
    const connectionId = newId('conn')
    await record(connectionId, { number: 21 })
    bench.clock.advance({ seconds: TEST_REQUEST_SECONDS })
    expect(await numbers(connectionId)).toEqual([])
    expect(await bench.stores.testRequests.get(connectionId, 21)).toBeUndefined()
    await record(connectionId, { number: 1 })
    expect(await numbers(connectionId)).toEqual([1])
  })
})
