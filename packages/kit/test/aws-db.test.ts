import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { createAwsDb } from '../src/aws-db.ts'
import { retryingDb } from '../src/retrying-db.ts'

describe('a store whose responses are lost', () => {
  const ends: (() => void)[] = []

  afterEach(() => {
    for (const end of ends.splice(0)) end()
  })

  /** Accepts every request and breaks the connection instead of responding. */
  async function silentStore() {
    let requests = 0
    const server = createServer((request) => {
      requests++
      request.socket.destroy()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    const aws = createAwsDb({
      endpoint: `http://127.0.0.1:${port}`,
      region: 'eu-central-1',
      credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    })
    ends.push(
      () => aws.close(),
      () => server.close(),
    )
    return { db: retryingDb(aws, { pause: async () => {} }), requests: () => requests }
  }

  test('never gets the same write twice', async () => {
    const { db, requests } = await silentStore()
    const write = db.updateItem({
      TableName: 'counters',
      Key: { id: 'x' },
      UpdateExpression: 'ADD n :1',
      ExpressionAttributeValues: { ':1': 1 },
    })
    await expect(write).rejects.toMatchObject({ name: 'TimeoutError', code: 'ECONNRESET' })
    expect(requests()).toBe(1)
  })

  test('gets a transaction with a token again and executes it once', async () => {
    const { db, requests } = await silentStore()
    const Update = {
      TableName: 'counters',
      Key: { id: 'x' },
      UpdateExpression: 'ADD n :1',
      ExpressionAttributeValues: { ':1': 1 },
    }
    const transaction = { TransactItems: [{ Update }] }
    const lost = { name: 'TimeoutError' }
    await expect(db.transactWriteItems(transaction)).rejects.toMatchObject(lost)
    expect(requests()).toBe(1)
    const withToken = { ...transaction, ClientRequestToken: 'the-same-each-time' }
    await expect(db.transactWriteItems(withToken)).rejects.toMatchObject(lost)
    expect(requests()).toBe(4)
  })

  test('gets reads again', async () => {
    const { db, requests } = await silentStore()
    const read = db.getItem({ TableName: 'counters', Key: { id: 'x' } })
    await expect(read).rejects.toMatchObject({ name: 'TimeoutError' })
    expect(requests()).toBe(3)
  })
})
