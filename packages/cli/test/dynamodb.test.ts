import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import {
  CreateTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb'
import { describe, expect, test } from 'vitest'
import { inProcess } from './in-process.ts'
import { emptyDirectory, start } from './strongroom.ts'

describe('strongroom dynamodb', () => {
  async function running(cwd: string, options: string[] = [], env = {}) {
    const server = start(['dynamodb', '--port', '0', '--data', 'd', ...options], { cwd, env })
    const printed = await server.until('Press Ctrl+C to stop')
    const [endpoint = ''] = /http:\/\/\S+/.exec(printed) ?? []
    const client = new DynamoDBClient({
      endpoint,
      region: 'local',
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    })
    const stop = async () => {
      client.destroy()
      server.process.kill('SIGTERM')
      return (await server.finished).code
    }
    return { client, endpoint, stop }
  }

  test('serves any AWS SDK and keeps its data across a restart', async () => {
    const cwd = await emptyDirectory()
    const first = await running(cwd)
    await first.client.send(
      new CreateTableCommand({
        TableName: 'things',
        BillingMode: 'PAY_PER_REQUEST',
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      }),
    )
    const Item = { id: { S: 'a' }, n: { N: '12345678901234567890123456789' } }
    await first.client.send(new PutItemCommand({ TableName: 'things', Item }))
    expect(await first.stop()).toBe(0)

    const second = await running(cwd)
    const got = await second.client.send(
      new GetItemCommand({ TableName: 'things', Key: { id: { S: 'a' } } }),
    )
    expect(got.Item).toEqual(Item)
    expect(await second.stop()).toBe(0)
  })

  test('accepts only signed requests with --signed', async () => {
    const cwd = await emptyDirectory()
    const env = { AWS_ACCESS_KEY_ID: 'AKID', AWS_SECRET_ACCESS_KEY: 'secret of the test' }
    const { client, endpoint, stop } = await running(cwd, ['--signed'], env)
    const list = new ListTablesCommand({})
    await expect(client.send(list)).rejects.toThrow('security token included in the request')
    const known = new DynamoDBClient({
      endpoint,
      region: 'local',
      credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret of the test' },
    })
    expect((await known.send(list)).TableNames).toEqual([])
    known.destroy()
    expect(await stop()).toBe(0)
  })

  test('listens to other machines only if requests are signed', async () => {
    const { code, stderr } = await inProcess(['dynamodb', '--host', '0.0.0.0'], {
      env: { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' },
    })
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^Requests must be signed: set AWS_ACCESS_KEY_ID and .*\n$/),
    ])
  })

  test('reports a port that is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as AddressInfo
    const data = join(await emptyDirectory(), 'd')
    const args = ['dynamodb', '--port', String(port), '--data', data]
    const { code, stderr } = await inProcess(args)
    other.close()
    expect([code, stderr]).toEqual([
      1,
      `Created a store in ${data}\nPort ${port} of 127.0.0.1 is in use: stop what uses it, or choose another port\n`,
    ])
  })

  test('reports an invalid port', async () => {
    const { code, stderr } = await inProcess(['dynamodb', '--port', 'x'])
    expect([code, stderr]).toEqual([2, '--port must be a whole number from 0 to 65535\n'])
  })
})
