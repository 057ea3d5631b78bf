// Ferryhook as `strongroom serve` and `strongroom worker` run it, and an account to send to.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ServerProcess } from '../http/server-process.ts'

const STRONGROOM = fileURLToPath(new URL('../../packages/cli/bin/strongroom.mjs', import.meta.url))

/** Disables limits and address checks, which are not part of the measurement. */
function environment(directory: string, delivers: boolean): NodeJS.ProcessEnv {
  return {
    STRONGROOM_DATA: directory,
    STRONGROOM_MAX_CONNECTIONS_PER_ADDRESS: '1024',
    FERRYHOOK_SIGNUP: 'open',
    FERRYHOOK_EVENT_LIMITS: 'false',
    FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    FERRYHOOK_ALLOW_HTTP: 'true',
    FERRYHOOK_DELIVER: String(delivers),
  }
}

export function startServer(
  directory: string,
  { delivers, core, endpoint }: ServerOptions,
): Promise<ServerProcess> {
  const args = [STRONGROOM, 'serve', '--only', 'ferryhook', '--port', '0', '--json']
  const env = { ...environment(directory, delivers), ...endpointEnvironment(endpoint) }
  return ServerProcess.start(args, { env, core })
}

interface ServerOptions {
  delivers: boolean
  /** Pins it to a core. */
  core?: number
  /** A store over HTTP instead of the embedded one. */
  endpoint?: string | undefined
}

/** Servers create tables only in the embedded store. */
export function createTables(directory: string, endpoint: string): void {
  const env = { ...process.env, STRONGROOM_DATA: directory, ...endpointEnvironment(endpoint) }
  const { status } = spawnSync(process.execPath, [STRONGROOM, 'tables', 'create'], { env })
  if (status !== 0) throw new Error(`"strongroom tables create" ended with code ${status}`)
}

function endpointEnvironment(endpoint: string | undefined): NodeJS.ProcessEnv {
  if (endpoint === undefined) return {}
  return {
    DYNAMODB_ENDPOINT: endpoint,
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_REGION: 'us-east-1',
  }
}

export function startWorker(directory: string): Promise<ServerProcess> {
  const args = [STRONGROOM, 'worker', '--json']
  return ServerProcess.start(args, { env: environment(directory, true) })
}

export interface Destination {
  destinationUrl: string
  filters?: object[]
  transform?: object
}

export interface Account {
  /** Creates a source with connections to these addresses; returns the path for events. */
  source(...destinations: (string | Destination)[]): Promise<string>
}

export async function signUp(url: string, email = 'bench@example.com'): Promise<Account> {
  const person = { email, name: 'Bench', password: 'correct horse battery' }
  const { accessToken } = await post<{ accessToken: string }>(`${url}/v1/auth/signup`, person)
  const own = <T>(path: string, body: object) => post<T>(`${url}/v1${path}`, body, accessToken)
  return {
    async source(...destinations) {
      const { id } = await own<{ id: string }>('/sources', { name: 'Bench', provider: 'custom' })
      for (const given of destinations) {
        const destination = typeof given === 'string' ? { destinationUrl: given } : given
        // oxlint-disable-next-line no-await-in-loop -- a few
        await own(`/sources/${id}/connections`, { name: 'Sink', ...destination })
      }
      return `/in/${id}`
    },
  }
}

async function post<T>(url: string, body: object, token?: string): Promise<T> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${new URL(url).pathname} answered ${await answer.text()}`)
  return (await answer.json()) as T
}
