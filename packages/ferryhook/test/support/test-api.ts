/** Ferryhook mounted in an app, on a test store, with users. */
import type { OpenAPIHono } from '@hono/zod-openapi'
import { defineConfig } from '@strongroom/kit/config'
import { createTables } from '@strongroom/kit/tables'
import type { Db } from '@strongroom/kit/db'
import { createApp } from '@strongroom/kit/http/app'
import type { AppEnv } from '@strongroom/kit/http/env'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { retryingDb } from '@strongroom/kit/retrying-db'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import type { RunningService } from '@strongroom/kit/service'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox, testSecrets } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, expect } from 'vitest'
import type { Stores } from '../../src/stores.ts'
import { ferryhookService } from '../../src/service.ts'
import { ferryhookSettings } from '../../src/settings.ts'
import { startFerryhook } from '../../src/start.ts'
import { tables } from '../../src/tables.ts'
import { storesOn } from './test-stores.ts'
import { quickPasswords } from './quick-passwords.ts'

export const ORIGIN = 'https://hooks.example'
export const PASSWORD = 'correct horse battery'

export interface Call {
  body?: unknown
  token?: string | undefined
  cookies?: Record<string, string> | undefined
  headers?: Record<string, string>
  /** The client address; defaults to a different one for each request. */
  peer?: string
}

export interface Answer {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came: tests say what they expect
  body: any
  /** As received. */
  text: string
  headers: Headers
  /** The cookies that were set; a cleared one is empty. */
  cookies: Record<string, string>
}

export type Ask = (method: string, path: string, call?: Call) => Promise<Answer>

export interface Person {
  id: string
  email: string
  token: string
  cookies: Record<string, string>
}

export interface OpenApi {
  ask: Ask
  app: OpenAPIHono<AppEnv>
  db: Db
  /** The store as another process sees it. */
  stores: Stores
  clock: TestClock
  operator: string
  logged: string[]
  passwords: ReturnType<typeof quickPasswords>
  /** The service again on the same store, with other settings. */
  another(
    env: Record<string, string>,
    given?: { publicUrl?: string; secrets?: ServerSecrets },
  ): Promise<Ask>
  person(): Promise<Person>
  key(person: Person, permissions: 'read' | 'write' | 'admin'): Promise<string>
  source(person: Person, given?: object): Promise<string>
  connection(person: Person, sourceId: string, given?: object): Promise<Answer>
}

let peers = 0
let people = 0

export function openApi(
  store: TestStore,
  env: Record<string, string> = {},
  { delivers = false } = {},
): OpenApi {
  const opened = {} as OpenApi
  const running: RunningService[] = []
  let closeStore: () => Promise<void>

  beforeAll(async () => {
    const { db, close } = await store.open()
    closeStore = close
    await createTables(db, [...tables, serverTable, operationsTable])
    const clock = testClock()
    const logged: string[] = []
    const passwords = quickPasswords()
    const operator = await createOperators({ db, clock }).add('ops')

    async function start(
      settings: Record<string, string>,
      { publicUrl = ORIGIN, secrets = testSecrets() } = {},
    ) {
      const log = createLog({ level: 'debug', sink: (line) => void logged.push(line) })
      const metrics = createMetrics()
      const app = createApp({
        log,
        metrics,
        publicUrl,
        peerAddress: ({ headers }) => headers.get('x-test-peer') ?? undefined,
      })
      const config = defineConfig(ferryhookSettings).parse({
        FERRYHOOK_SIGNUP: 'open',
        ...env,
        ...settings,
      })
      // As on the server: transient failures are retried.
      const patient = retryingDb(db, { attempts: 200 })
      const deps = { db: patient, clock, log, metrics, secrets, publicUrl, config, secretBox }
      const service = {
        ...ferryhookService,
        start: () => startFerryhook(deps, { passwordHasher: passwords, delivers }),
      }
      running.push(await mountService(app, service, deps))
      return app
    }

    const app = await start({})
    Object.assign(opened, { app, db, clock, operator, logged, passwords })
    opened.stores = storesOn(db, clock)
    opened.ask = asking(app)
    opened.another = async (settings, given) => asking(await start(settings, given))
  })
  afterAll(async () => {
    for (const service of running) await service.close?.()
    await closeStore()
  })

  opened.person = async () => {
    const email = `person-${++people}@example.com`
    const answer = await opened.ask('POST', '/auth/signup', {
      body: { email, name: 'Ada', password: PASSWORD },
    })
    expect(answer.status, answer.text).toBe(201)
    const { accessToken, user } = answer.body
    return { id: user.id, email, token: accessToken, cookies: answer.cookies }
  }
  opened.key = async ({ token }, permissions) => {
    const body = { name: 'CI', permissions }
    return (await opened.ask('POST', '/api-keys', { token, body })).body.key
  }
  opened.source = async ({ token }, given = {}) => {
    const body = { name: 'Shop', provider: 'custom', ...given }
    return (await opened.ask('POST', '/sources', { token, body })).body.id
  }
  opened.connection = ({ token }, sourceId, given = {}) =>
    opened.ask('POST', `/sources/${sourceId}/connections`, {
      token,
      body: { name: 'To the shop', destinationUrl: 'https://shop.example/hooks', ...given },
    })
  return opened
}

function asking(app: OpenAPIHono<AppEnv>): Ask {
  return async (method, path, { body, token, cookies, headers = {}, peer } = {}) => {
    const cookie = Object.entries(cookies ?? {}).map(([name, value]) => `${name}=${value}`)
    const answer = await app.request(`/ferryhook/v1${path}`, {
      method,
      headers: {
        'x-test-peer': peer ?? `10.${(peers >> 16) & 255}.${(peers >> 8) & 255}.${peers++ & 255}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(cookie.length > 0 && { cookie: cookie.join('; ') }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const type = answer.headers.get('content-type') ?? ''
    // A stream does not end.
    if (type.startsWith('text/event-stream')) await answer.body?.cancel()
    const text = type.startsWith('text/event-stream') ? '' : await answer.text()
    return {
      status: answer.status,
      body: type.startsWith('application/json') ? JSON.parse(text) : undefined,
      text,
      headers: answer.headers,
      cookies: cookiesOf(answer.headers),
    }
  }
}

function cookiesOf(headers: Headers): Record<string, string> {
  return Object.fromEntries(
    headers.getSetCookie().map((line) => {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      return [name, value]
    }),
  )
}
