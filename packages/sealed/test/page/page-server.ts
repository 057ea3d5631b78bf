/** Sealed with its page on a port of this machine, on the embedded engine, with a clock to move. */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { defineConfig } from '@strongroom/kit/config'
import { createApp } from '@strongroom/kit/http/app'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { sealedService } from '../../src/service.ts'
import { sealedSettings } from '../../src/settings.ts'
import { startSealed } from '../../src/start.ts'
import { secretsTable } from '../../src/tables.ts'
import { testTimers } from '../support/test-timers.ts'

/** A little work, so that there is some, and no limits. */
const CALM = {
  SEALED_DIFFICULTY: '8',
  SEALED_TOKEN_LIMIT: '0',
  SEALED_REVEAL_LIMIT: '0',
  SEALED_BURN_LIMIT: '0',
  SEALED_STATUS_LIMIT: '0',
  SEALED_BUSY_CREATIONS: '0',
  SEALED_QUOTA_MB: '0',
  SEALED_SWEEP_MINUTES: '0',
}

export interface PageServer {
  /** Where the page is. */
  base: string
  clock: TestClock
  /** Everything that arrived: method, address, headers and body of each request. */
  requests: string[]
  /** Everything that was logged. */
  lines: string[]
  close(): Promise<void>
}

export async function startPageServer(
  options: { at?: '/' | '/sealed'; env?: Record<string, string> } = {},
): Promise<PageServer> {
  const { at = '/sealed', env = {} } = options
  const [engine] = testStores()
  if (!engine) throw new Error('There is no store')
  const { db, close } = await engine.open()
  await createTables(db, [secretsTable, serverTable])
  const clock = testClock()
  const lines: string[] = []
  const requests: string[] = []
  const log = createLog({ level: 'debug', sink: (line) => lines.push(line), clock })
  const metrics = createMetrics()
  const app = createApp({ log, metrics, peerAddress: () => '127.0.0.1' })
  const config = defineConfig(sealedSettings).parse({ ...CALM, ...env })
  const running = await mountService(
    app,
    {
      ...sealedService,
      start: (deps) => startSealed(deps, { ...testTimers(clock), minResponseMs: 0 }),
    },
    { db, clock, log, metrics, secrets: testSecrets(), publicUrl: 'http://127.0.0.1', config },
    at,
  )
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { request, body } = await received(incoming)
      requests.push(
        `${request.method} ${request.url} ${JSON.stringify(incoming.rawHeaders)} ${body}`,
      )
      const answer = await app.fetch(request)
      outgoing.writeHead(answer.status, Object.fromEntries(answer.headers))
      outgoing.end(Buffer.from(await answer.arrayBuffer()))
    })()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    base: `http://127.0.0.1:${port}${at === '/' ? '/' : `${at}/`}`,
    clock,
    requests,
    lines,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
      await running.close?.()
      await close()
    },
  }
}

async function received(incoming: IncomingMessage) {
  const body = await buffer(incoming)
  const { method = 'GET', url = '/', headers } = incoming
  const request = new Request(`http://${headers.host}${url}`, {
    method,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
    ...(body.length > 0 && { body: new Uint8Array(body) }),
  })
  return { request, body: body.toString() }
}
