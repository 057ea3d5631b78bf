/** Form-Bridge mounted in an app, on a test store, with WordPress sites to connect. */
import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto'
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
import { operationsTable } from '@strongroom/kit/operations-table'
import { serverTable } from '@strongroom/kit/server-table'
import { mountService } from '@strongroom/kit/http/mount-service'
import type { RunningService } from '@strongroom/kit/service'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { secretBox, testSecrets } from '@strongroom/kit/testing/test-secrets'
import { afterAll, beforeAll, expect } from 'vitest'
import { formBridgeService } from '../../src/service.ts'
import { formBridgeSettings } from '../../src/settings.ts'
import { startFormBridge } from '../../src/start.ts'
import { formBridgeTable } from '../../src/tables.ts'
import { createTestStores, type TestStores } from './test-stores.ts'
import { openHost, type WordPressHost, type WordPressSite } from './wordpress-host.ts'

export const ORIGIN = 'https://forms.example'

interface Call {
  body?: unknown
  /** Instead of a JSON body. */
  bytes?: Uint8Array
  token?: string | undefined
  headers?: Record<string, string>
  /** The client address; by default a new one for each request. */
  peer?: string
}

export interface ApiResponse {
  status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert its shape
  body: any
  code: string | undefined
  bytes: Uint8Array
  headers: Headers
}

export type CallApi = (method: string, path: string, call?: Call) => Promise<ApiResponse>

export interface Credentials {
  site_id: string
  api_key: string
  webhook_secret: string
  domain: string
}

export interface ConnectedSite extends Credentials {
  wordpress: WordPressSite
}

/** Overrides for a signed request. */
export interface Signing {
  nonce?: string
  timestamp?: number
  secret?: string
  home?: string
  peer?: string
  /** Sent instead of the signed body. */
  sent?: Uint8Array
}

export interface TestService {
  call: CallApi
  app: OpenAPIHono<AppEnv>
  db: Db
  stores: TestStores
  clock: TestClock
  timers: TestTimers
  operator: string
  logged: string[]
  host: WordPressHost
  txt: Map<string, string[]>
  /** A second service on the same store, with other settings or another clock. */
  /** Closes it, as at the end of the tests. */
  close(): Promise<void>
  another(env?: Record<string, string>, clock?: TestClock): Promise<CallApi>
  register(wordpress: WordPressSite, given?: object, peer?: string): Promise<ApiResponse>
  exchange(wordpress: WordPressSite, given?: object, peer?: string): Promise<ApiResponse>
  /** Exchanges the pending registration of `wordpress`, signed with the keys of `site`. */
  move(
    site: Credentials,
    wordpress: WordPressSite,
    given?: object,
    signing?: Signing,
  ): Promise<ApiResponse>
  connected(given?: object, wordpress?: WordPressSite): Promise<ConnectedSite>
  signed(
    site: Credentials,
    method: string,
    path: string,
    body?: unknown,
    signing?: Signing,
    call?: CallApi,
  ): Promise<ApiResponse>
  agency(max_sites?: number): Promise<{ agency_id: string; api_key: string }>
  joinToken(api_key: string, given?: object): Promise<string>
}

let peers = 0

export function createTestService(store: TestStore, env: Record<string, string> = {}): TestService {
  const opened = {} as TestService
  const running: RunningService[] = []
  let closeStore: () => Promise<void>

  beforeAll(async () => {
    const { db, close } = await store.open()
    closeStore = close
    await createTables(db, [formBridgeTable, serverTable, operationsTable])
    const clock = testClock()
    const ownTimers = testTimers(clock)
    const logged: string[] = []
    const txt = new Map<string, string[]>()
    const dns = {
      txt: async (name: string) => txt.get(name) ?? [],
      addresses: async () => ['127.0.0.1'],
      mx: async () => [],
    }

    async function start(settings: Record<string, string>, its: TestClock) {
      const log = createLog({ level: 'debug', sink: (line) => void logged.push(line) })
      const metrics = createMetrics()
      const app = createApp({
        log,
        metrics,
        publicUrl: ORIGIN,
        peerAddress: ({ headers }) => headers.get('x-test-peer') ?? undefined,
      })
      const config = defineConfig(formBridgeSettings).parse({
        FORM_BRIDGE_ALLOW_HTTP: 'true',
        FORM_BRIDGE_ALLOWED_NETWORKS: '127.0.0.1/32',
        FORM_BRIDGE_DESTINATION_NETWORKS: '127.0.0.1/32',
        ...env,
        ...settings,
      })
      // Retries like the server.
      const retrying = retryingDb(db, { attempts: 200 })
      const deps = {
        db: retrying,
        clock: its,
        log,
        metrics,
        secrets: testSecrets(),
        publicUrl: ORIGIN,
        config,
        secretBox,
      }
      const timers = its === clock ? ownTimers : testTimers(its)
      const options = { dns, startTimer: timers.start }
      const service = { ...formBridgeService, start: () => startFormBridge(deps, options) }
      running.push(await mountService(app, service, deps))
      return app
    }

    const stores = createTestStores(db, clock)
    // All sites of all tests have the same host.
    await stores.rates.setOverride(
      { scope: 'validation_domain', id: '127.0.0.1' },
      { minute: 10_000, hour: 10_000 },
    )
    const app = await start({}, clock)
    Object.assign(opened, {
      app,
      db,
      clock,
      timers: ownTimers,
      logged,
      txt,
      host: await openHost(),
      stores,
      operator: await createOperators({ db, clock }).add('ops'),
      call: createCaller(app),
      close: async () => {
        for (const each of running.splice(0)) await each.close?.()
      },
      another: async (settings = {}, its = clock) => createCaller(await start(settings, its)),
    })
  })
  afterAll(async () => {
    await opened.close()
    await opened.host.close()
    await closeStore()
  })

  opened.register = async (wordpress, given = {}, peer) => {
    const body = {
      site_url: wordpress.url,
      wp_version: '6.8.12',
      plugin_version: '1.0.0',
      ...given,
    }
    const response = await opened.call('POST', '/register', { body, ...(peer && { peer }) })
    if (response.status === 201) wordpress.pending = response.body
    return response
  }
  opened.exchange = (wordpress, given = {}, peer) => {
    const { registration_id, temp_key } = wordpress.pending ?? {}
    const body = { registration_id, temp_key, site_url: wordpress.url, ...given }
    return opened.call('POST', '/exchange', { body, ...(peer && { peer }) })
  }
  opened.move = (site, wordpress, given = {}, signing = {}) => {
    const { registration_id, temp_key } = wordpress.pending ?? {}
    const body = { registration_id, temp_key, site_url: wordpress.url, ...given }
    return opened.signed(site, 'POST', '/exchange', body, signing)
  }
  opened.connected = async (given = {}, wordpress = opened.host.site()) => {
    const registered = await opened.register(wordpress, given)
    expect(registered.status, JSON.stringify(registered.body)).toBe(201)
    const response = await opened.exchange(wordpress)
    expect(response.status, JSON.stringify(response.body)).toBe(200)
    return { ...response.body, wordpress }
  }
  opened.signed = (site, method, path, body, signing = {}, call = opened.call) => {
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const headers = signatureHeaders(site, method, path, bytes, {
      timestamp: Math.floor(opened.clock.now() / 1000),
      ...signing,
    })
    const { peer, sent = bytes } = signing
    const isEmpty = body === undefined && signing.sent === undefined
    return call(method, path, { headers, ...(!isEmpty && { bytes: sent }), ...(peer && { peer }) })
  }
  opened.agency = async (max_sites = 5) => {
    const body = { agency_name: 'Nine Sites', contact_email: 'office@nine.example', max_sites }
    return (await opened.call('POST', '/agencies', { token: opened.operator, body })).body
  }
  opened.joinToken = async (token, given = {}) =>
    (await opened.call('POST', '/agency/join-tokens', { token, body: given })).body.token
  return opened
}

/** An independent implementation, so that it does not share defects with the code under test. */
export function signatureHeaders(
  { site_id, webhook_secret }: Credentials,
  method: string,
  path: string,
  body: Uint8Array,
  given: Signing & { timestamp: number },
): Record<string, string> {
  const { timestamp, nonce = randomBytes(16).toString('hex'), secret = webhook_secret } = given
  const digest = createHash('sha256').update(body).digest('hex')
  const text = `FB1\n${timestamp}\n${nonce}\n${method}\n/form-bridge/v1${path}\n${digest}`
  return {
    'x-fb-site': site_id,
    'x-fb-timestamp': String(timestamp),
    'x-fb-nonce': nonce,
    'x-fb-signature': `v1=${createHmac('sha256', secret).update(text).digest('hex')}`,
    ...(given.home && { 'x-fb-home': given.home }),
  }
}

function createCaller(app: OpenAPIHono<AppEnv>): CallApi {
  return async (method, path, { body, bytes, token, headers = {}, peer } = {}) => {
    const sent = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)))
    const response = await app.request(`/form-bridge/v1${path}`, {
      method,
      headers: {
        'x-test-peer': peer ?? `10.${(peers >> 16) & 255}.${(peers >> 8) & 255}.${peers++ & 255}`,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(sent !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(sent !== undefined && { body: Uint8Array.from(sent) }),
    })
    const received = new Uint8Array(await response.arrayBuffer())
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const content = isJson ? JSON.parse(Buffer.from(received).toString()) : undefined
    return {
      status: response.status,
      body: content,
      code: content?.error?.code,
      bytes: received,
      headers: response.headers,
    }
  }
}

export const newSubmission = () => ({
  submission_id: randomUUID(),
  form_id: 'contact',
  submitted_at: '2100-01-01T00:00:00Z',
  fields: { name: 'Ada', message: 'Hello' },
})

/** Runs `count` calls concurrently, each with its index. */
export const concurrently = <T>(count: number, make: (at: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, at) => make(at)))
