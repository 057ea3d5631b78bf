/** Sealed as its clients meet it, with a clock to move and everything that it logs. */
import { defineConfig } from '@strongroom/kit/config'
import { createTables } from '@strongroom/kit/create-tables'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { createApp, type AppOptions as HttpOptions } from '@strongroom/kit/http/app'
import { mountedRoutes, nodeRoutes } from '@strongroom/kit/http/node-routes'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/service'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { sealedService, startSealed } from '../../src/service-definition.ts'
import { sealedSettings } from '../../src/settings.ts'
import { secretsTable } from '../../src/table.ts'
import { testTimers } from './test-timers.ts'

/** No work, no limits and no sweep, so that each test brings in what it is about. */
const CALM = {
  SEALED_DIFFICULTY: '0',
  SEALED_DIFFICULTY_PER_DOUBLING: '0',
  SEALED_TOKEN_LIMIT: '0',
  SEALED_REVEAL_LIMIT: '0',
  SEALED_BURN_LIMIT: '0',
  SEALED_STATUS_LIMIT: '0',
  SEALED_QUOTA_MB: '0',
  SEALED_SWEEP_MINUTES: '0',
}

type Environment = Partial<Record<keyof typeof sealedSettings, string | undefined>>

export interface AppOptions {
  env?: Environment
  clock?: TestClock
  secrets?: ServerSecrets
  store?: 'aws'
  /** When whoever has no right to a secret is answered; at once unless told. */
  refusalMs?: number
  /** What `x-test-peer` says unless told. */
  peerAddress?: NonNullable<HttpOptions['peerAddress']>
}

const testPeer: NonNullable<HttpOptions['peerAddress']> = (c) => c.req.header('x-test-peer')

export type SealedApp = Awaited<ReturnType<typeof startApp>>

export async function startApp(db: Db, options: AppOptions = {}) {
  const { env = {}, clock = testClock(), secrets = testSecrets(), refusalMs = 0 } = options
  const lines: string[] = []
  const log = createLog({ level: 'debug', sink: (line) => lines.push(line), clock })
  const metrics = createMetrics()
  const timers = testTimers(clock)
  const watched = watch(db)
  const http = { log, metrics, peerAddress: options.peerAddress ?? testPeer }
  const app = createApp(http)
  const values = defineConfig(sealedSettings).parse({ ...CALM, ...env })
  const config = { ...values, STRONGROOM_STORE: options.store }
  const running = await mountService(
    app,
    { ...sealedService, start: (deps) => startSealed(deps, timers, refusalMs) },
    { db: watched.db, clock, log, metrics, secrets, publicUrl: 'http://sealed.test', config },
  )
  const close = async () => running.close?.()
  onTestFinished(close)

  /** Runs what is due by now, until there is nothing more to do. */
  async function settle() {
    do {
      timers.runDue()
      await watched.idle()
    } while (timers.isAnyDue())
  }
  return {
    request: async (path: string, init: RequestInit = {}) => app.request(`/sealed${path}`, init),
    app,
    node: nodeRoutes(mountedRoutes(running, 'sealed', '/sealed'), http),
    clock,
    timers,
    metrics,
    operations: watched.operations,
    lines,
    operators: createOperators({ db, clock }),
    settle,
    close,
  }
}

/** A store with the tables that Sealed needs, for the tests of one file. */
export function openDb(store: TestStore): { db: Db } {
  const opened = {} as Awaited<ReturnType<TestStore['open']>>
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    await createTables(opened.db, [secretsTable, serverTable])
  })
  afterAll(() => opened.close())
  return opened
}

/** A Db that tells what is asked of it, and when nothing is any more. */
function watch(db: Db) {
  const operations: string[] = []
  const pending: Promise<unknown>[] = []
  const watched = eachOperation((name) => (input) => {
    operations.push(name)
    const call = db[name](input)
    pending.push(call.catch(() => {}))
    return call
  })
  async function idle() {
    do {
      await Promise.all(pending.splice(0))
      // What waited for these may ask for more.
      await new Promise((resolve) => setImmediate(resolve))
    } while (pending.length > 0)
  }
  return { db: watched, operations, idle }
}
