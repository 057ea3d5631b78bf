/** A server with Sealed on it, for the command line to talk to. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@strongroom/kit/clock'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { sealedService } from '@strongroom/sealed/service-definition'
import { createServerApp } from '@strongroom/server/app'
import { listen } from '@strongroom/server/listen'
import { settingsWith } from '@strongroom/server/settings'
import { openStore } from '@strongroom/server/store'
import { requireTables, tablesOf } from '@strongroom/server/tables'
import { onTestFinished } from 'vitest'

/** Cheap work and no limits, unless a test is about them. */
const CHEAP = { SEALED_DIFFICULTY: '4', SEALED_TOKEN_LIMIT: '0', SEALED_BURN_LIMIT: '0' }

export interface SealedServer {
  url: string
  /** What came in so far, such as `POST /sealed/v1/token`. */
  requests: string[]
  /** Called with each answer before it is given: loses it by throwing. */
  onAnswer: (request: Request) => void
}

export async function sealedServer(
  options: { atRoot?: boolean; settings?: Record<string, string> } = {},
): Promise<SealedServer> {
  const { atRoot = false, settings: given } = options
  const directory = await mkdtemp(join(tmpdir(), 'strongroom-sealed-'))
  const settings = settingsWith([sealedService]).parse({
    STRONGROOM_DATA: directory,
    ...CHEAP,
    ...given,
  })
  const store = await openStore(settings)
  const services = [sealedService]
  await requireTables(store, tablesOf(services))
  const listener = await listen('127.0.0.1', 0)
  const server: SealedServer = {
    url: `http://127.0.0.1:${listener.port}`,
    requests: [],
    onAnswer: () => {},
  }
  const app = await createServerApp({
    services,
    atRoot,
    store,
    secrets: testSecrets(),
    settings,
    publicUrl: server.url,
    log: silentLog,
    clock: systemClock,
    metrics: createMetrics(),
  })
  listener.serve(async (request, env) => {
    server.requests.push(`${request.method} ${new URL(request.url).pathname}`)
    const answer = await app.fetch(request, env)
    server.onAnswer(request)
    return answer
  })
  onTestFinished(async () => {
    await listener.close()
    await app.close()
    await store.close()
    await rm(directory, { recursive: true })
  })
  return server
}
