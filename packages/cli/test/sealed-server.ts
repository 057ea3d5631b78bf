/** A server with Sealed on it, for the command line to talk to. */
import { mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getRequestListener } from '@hono/node-server'
import { type Clock, systemClock } from '@strongroom/platform/clock'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { sealedService } from '@strongroom/sealed/service'
import { createServerApp } from '@strongroom/server/app'
import { openKms } from '@strongroom/server/kms/open'
import { listen } from '@strongroom/kit/http/node'
import { settingsWith } from '@strongroom/server/own-settings'
import { openStore } from '@strongroom/server/store'
import { requireTables, tablesOf } from '@strongroom/server/tables'
import { onTestFinished } from 'vitest'

/** Cheap work and no limits, unless a test is about them. */
const CHEAP = { SEALED_DIFFICULTY: '4', SEALED_TOKEN_LIMIT: '0', SEALED_BURN_LIMIT: '0' }

export interface SealedServer {
  url: string
  /** Of its data. */
  directory: string
  /** What came in so far. */
  requests: { call: string; body: string }[]
  /** If it returns a response, that is sent instead of Sealed's, for the next request only. */
  intercept: ((request: Request) => Response) | undefined
  /** Whether the response to the next such call is lost. */
  loses: string | undefined
}

export async function sealedServer(
  options: { atRoot?: boolean; settings?: Record<string, string>; clock?: Clock } = {},
): Promise<SealedServer> {
  const { atRoot = false, clock = systemClock } = options
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-sealed-'))
  const settings = settingsWith([sealedService]).parse({
    STRONGROOM_DATA: directory,
    ...CHEAP,
    ...options.settings,
  })
  const store = await openStore(settings)
  const services = [sealedService]
  await requireTables(store, tablesOf(services))
  const kms = await openKms(settings, store, { clock })
  const listener = await listen('127.0.0.1', 0, { log: silentLog, metrics: createMetrics() })
  const url = `http://127.0.0.1:${listener.port}`
  const server: SealedServer = {
    url,
    directory,
    requests: [],
    intercept: undefined,
    loses: undefined,
  }
  const app = await createServerApp({
    services,
    atRoot,
    store,
    kms,
    settings,
    publicUrl: url,
    log: silentLog,
    clock,
    metrics: createMetrics(),
  })
  const serve: Parameters<typeof getRequestListener>[0] = async (request, env) => {
    const call = `${request.method} ${new URL(request.url).pathname}`
    server.requests.push({ call, body: await request.clone().text() })
    const { intercept } = server
    server.intercept = undefined
    if (intercept) return intercept(request)
    const answer = await app.fetch(request, env)
    if (server.loses !== undefined && call.endsWith(server.loses)) {
      server.loses = undefined
      ;(env as { incoming: IncomingMessage }).incoming.socket.destroy()
    }
    return answer
  }
  const handle = getRequestListener(serve)
  listener.serve((incoming, outgoing) => void handle(incoming, outgoing))
  onTestFinished(async () => {
    await listener.close()
    await app.close()
    await kms.close()
    await store.close()
    await rm(directory, { recursive: true })
  })
  return server
}
