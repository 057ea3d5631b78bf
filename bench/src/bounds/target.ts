// The server under attack, in its own process, with accounts and a place to deliver to.

import { mkdtemp, rm } from 'node:fs/promises'
import { createServer as createNetServer, type AddressInfo } from 'node:net'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ServerProcess } from '../http/server-process.ts'
import { openSink, type Sink } from './sink.ts'

const STRONGROOM = fileURLToPath(new URL('../../packages/cli/bin/strongroom.mjs', import.meta.url))

export interface Target {
  url: string
  sink: Sink
  /** A new account. */
  account(): Promise<Account>
  /** The longest delay of the server's event loop since the last call, in milliseconds. */
  eventLoopDelay(): Promise<number>
  close(): Promise<void>
}

export interface Account {
  call<T>(method: string, path: string, body?: object): Promise<T>
  /** Creates a source with connections and returns its id. */
  source(given: object, connections: readonly object[]): Promise<string>
}

export async function startTarget(): Promise<Target> {
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-bounds-'))
  const sink = await openSink()
  const metricsPort = await freePort()
  const server = await ServerProcess.start([STRONGROOM, 'serve', '--port', '0', '--json'], {
    env: {
      STRONGROOM_DATA: directory,
      STRONGROOM_METRICS_PORT: String(metricsPort),
      STRONGROOM_LOG_LEVEL: 'error',
      FERRYHOOK_SIGNUP: 'open',
      FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      FERRYHOOK_ALLOW_HTTP: 'true',
    },
  })
  // Real attackers do not share the server's cores.
  setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
  let people = 0

  async function account(): Promise<Account> {
    const person = {
      email: `bounds-${++people}@example.com`,
      name: 'Bounds',
      password: 'correct horse battery',
    }
    const signUp = await send(`${server.url}/ferryhook/v1/auth/signup`, 'POST', person)
    const { accessToken } = (await signUp.json()) as { accessToken: string }
    const call = async <T>(method: string, path: string, body?: object) => {
      const url = `${server.url}/ferryhook/v1${path}`
      const response = await send(url, method, body, accessToken)
      const text = await response.text()
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
      return (text === '' ? undefined : JSON.parse(text)) as T
    }
    return {
      call,
      async source(given, connections) {
        const source = { name: 'Bounds', provider: 'custom', ...given }
        const { id } = await call<{ id: string }>('POST', '/sources', source)
        for (const connection of connections) {
          const named = { name: 'Bounds', destinationUrl: sink.url('/attack'), ...connection }
          // oxlint-disable-next-line no-await-in-loop -- the server limits a user's requests
          await call('POST', `/sources/${id}/connections`, named)
        }
        return id
      },
    }
  }

  return {
    url: server.url,
    sink,
    account,
    async eventLoopDelay() {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`)
      const line = /^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(await response.text())
      return Number(line?.[1]) * 1000
    },
    async close() {
      await server.close()
      await sink.close()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

function send(url: string, method: string, body?: object, token?: string): Promise<Response> {
  return fetch(url, {
    method,
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
}

async function freePort(): Promise<number> {
  const server = createNetServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
