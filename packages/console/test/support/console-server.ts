/** A whole server with the console, on a port of this machine, on the embedded engine, with a clock to move. */
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators, type OperatorGrant } from '@strongroom/kit/operators'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import type { Db } from '@strongroom/kit/db'
import { everyTable } from '@strongroom/server/data-model'
import { services } from '@strongroom/server/services'
import { settings } from '@strongroom/server/settings'
import { testApp } from '../../../server/test/test-app.ts'

export interface ConsoleServer {
  /** Such as `http://localhost:41234`; browsers accept secure cookies there. */
  origin: string
  clock: TestClock
  db: Db
  /** Everything that was logged. */
  lines: string[]
  /** Adds an operator and returns its token. */
  addOperator(name: string, grant?: OperatorGrant): Promise<string>
  /** Adds a Ferryhook account with a password. */
  addUser(input?: { email?: string; name?: string }): Promise<{ email: string; password: string }>
  /** Calls the API as an operator or with any bearer token. */
  api<T = unknown>(
    method: string,
    path: string,
    options?: { token?: string; json?: unknown },
  ): Promise<{ status: number; body: T }>
  /** Stops accepting connections, as if the server had been stopped, and starts again. */
  interrupt(): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** Real time, because the browser has it too, plus what the test advances it by. */
function offsetClock(): TestClock {
  const offset = testClock(0)
  return { now: () => Date.now() + offset.now(), advance: offset.advance }
}

export const PASSWORD = 'correct horse battery staple'

/** `only` runs one service, at the root. */
export async function startConsoleServer(
  env: Record<string, string> = {},
  { only }: { only?: string } = {},
): Promise<ConsoleServer> {
  const [engine] = serviceStores()
  if (!engine) throw new Error('There is no store')
  const { db, close } = await engine.open()
  await createTables(db, everyTable)
  const clock = offsetClock()
  const lines: string[] = []
  const log = createLog({ level: 'info', sink: (line) => lines.push(line), clock })
  let listener: RequestListener = (_, response) => response.destroy()
  let server = createServer((request, response) => listener(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const origin = `http://localhost:${port}`
  const app = await testApp({
    db,
    services: services.filter(({ name }) => only === undefined || name === only),
    atRoot: only !== undefined,
    settings: settings.parse({ FERRYHOOK_SIGNUP: 'open', ...env }),
    publicUrl: origin,
    log,
    clock,
    metrics: createMetrics(),
    isLocal: true,
  })
  listener = app.listener

  const operators = createOperators({ db, clock })
  const api: ConsoleServer['api'] = async (method, path, { token, json } = {}) => {
    const at = only === undefined ? path : path.replace(new RegExp(`^/${only}/`), '/')
    const response = await fetch(origin + at, {
      method,
      headers: {
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as never }
  }
  const stop = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  let users = 0
  return {
    origin,
    clock,
    db,
    lines,
    addOperator: (name, grant) => operators.add(name, grant),
    async addUser({ email = `user-${++users}@example.com`, name = 'Test user' } = {}) {
      const { status, body } = await api('POST', '/ferryhook/v1/auth/signup', {
        json: { email, name, password: PASSWORD },
      })
      if (status !== 201) throw new Error(`Cannot sign up: ${JSON.stringify(body)}`)
      return { email, password: PASSWORD }
    },
    api,
    async interrupt() {
      await stop()
      return async () => {
        server = createServer((request, response) => listener(request, response))
        await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
      }
    },
    async close() {
      app.endStreams()
      await stop()
      await app.close()
      await operators.settled()
      await close()
    },
  }
}
