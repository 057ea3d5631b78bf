/** Sealed as its clients meet it, with a clock to move and everything that it logs. */
import { defineConfig } from '@strongroom/kit/config'
import { type Db, eachOperation } from '@strongroom/kit/db'
import { createApp, type AppOptions as HttpOptions } from '@strongroom/kit/http/app'
import { createHotMatcher, mountHotRoutes } from '@strongroom/kit/http/hot-routes'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import { createTables } from '@strongroom/kit/tables'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testSecrets } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, onTestFinished } from 'vitest'
import { createApiTokens } from '../../src/api-tokens/service.ts'
import { sealedService } from '../../src/service.ts'
import { sealedSettings } from '../../src/settings.ts'
import { startSealed } from '../../src/start.ts'
import { secretsTable } from '../../src/tables.ts'
import { testTimers } from './test-timers.ts'

/** No work, no limits and no sweep; each test configures what it needs. */
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
  /** When refusals are sent; immediately by default. */
  minResponseMs?: number
  /** The header `x-test-peer` by default. */
  peerAddress?: NonNullable<HttpOptions['peerAddress']>
}

const testPeer: NonNullable<HttpOptions['peerAddress']> = ({ headers }) =>
  headers.get('x-test-peer') ?? undefined

export type SealedApp = Awaited<ReturnType<typeof startApp>>

export async function startApp(db: Db, options: AppOptions = {}) {
  const { env = {}, clock = testClock(), secrets = testSecrets(), minResponseMs = 0 } = options
  const lines: string[] = []
  const log = createLog({ level: 'debug', sink: (line) => lines.push(line), clock })
  const metrics = createMetrics()
  const timers = testTimers(clock)
  const watched = watch(db)
  const app = createApp({ log, metrics, peerAddress: options.peerAddress ?? testPeer })
  const values = defineConfig(sealedSettings).parse({ ...CALM, ...env })
  const config = { ...values, STRONGROOM_STORE: options.store }
  const running = await mountService(
    app,
    { ...sealedService, start: (deps) => startSealed(deps, { ...timers, minResponseMs }) },
    { db: watched.db, clock, log, metrics, secrets, publicUrl: 'http://sealed.test', config },
  )
  const close = async () => running.close?.()
  onTestFinished(close)

  /** Runs due timers until nothing is left to do. */
  async function settle() {
    do {
      timers.runDue()
      await watched.idle()
    } while (timers.isAnyDue())
  }
  return {
    request: async (path: string, init: RequestInit = {}) => app.request(`/sealed${path}`, init),
    app,
    findHotRoute: createHotMatcher(mountHotRoutes(running, 'sealed', '/sealed')),
    clock,
    timers,
    metrics,
    operations: watched.operations,
    lines,
    operators: createOperators({ db, clock }),
    apiTokens: createApiTokens({ db, clock }),
    settle,
    close,
  }
}

/** A store with the tables that Sealed needs, for the tests of one file. */
export function openDb(store: TestStore): { db: Db } {
  const opened = {} as Awaited<ReturnType<TestStore['open']>>
  beforeAll(async () => {
    Object.assign(opened, await store.open())
    await createTables(opened.db, [secretsTable, serverTable, operationsTable])
  })
  afterAll(() => opened.close())
  return opened
}

/** A Db that records its operations and knows when it is idle. */
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
      // Code that waited for these may start more.
      await new Promise((resolve) => setImmediate(resolve))
    } while (pending.length > 0)
  }
  return { db: watched, operations, idle }
}
