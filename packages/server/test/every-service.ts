/** A server with all services on a test store, with tenants of each: for tests of every operation. */
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createReleaseKey,
  packageHash,
  signRelease,
} from '@strongroom/form-bridge/releases/signature'
import type { Db } from '@strongroom/kit/db'
import { PERMISSION } from '@strongroom/kit/http/permissions'
import { createOperators, type OperatorGrant } from '@strongroom/kit/operators'
import { createTables } from '@strongroom/kit/tables'
import type { TestStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { createFakeSlack } from '@strongroom/two-key/fake-slack/fake-slack'
import { sampleTeam } from '@strongroom/two-key/fake-slack/fixtures'
import { serveFakeSlack } from '@strongroom/two-key/fake-slack/server'
import { expect } from 'vitest'
import { everyTable } from '../src/data-model.ts'
import { services } from '../src/services.ts'
import { settings } from '../src/settings.ts'
import { pluginZip } from '../../cli/test/plugin-zip.ts'
import { testApp } from './test-app.ts'

const ORIGIN = 'https://strongroom.example'
const PASSWORD = 'correct horse battery'

export interface Operation {
  method: string
  /** With its placeholders. */
  path: string
  permission: string
  /** The names of its security schemes. */
  schemes: string[]
}

export interface Answer {
  status: number
  code: string | undefined
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever came
  body: any
}

export type Ask = (
  method: string,
  path: string,
  given?: { token?: string | undefined; body?: unknown; headers?: Record<string, string> },
) => Promise<Answer>

export interface EveryService {
  db: Db
  clock: TestClock
  ask: Ask
  operations: Operation[]
  slack: { team: string; token: string; url: string }
  upstream: string
  /** Adds an operator and returns its token. */
  operator(grant?: OperatorGrant): Promise<string>
  /** Signs an operator in to the console. */
  operatorCookie(token: string): Promise<string>
  account(): Promise<{ id: string; email: string; token: string }>
  agency(operator: string): Promise<{ agency_id: string; api_key: string }>
  /** A connected site; a member of the agency if its key is given. */
  site(agencyKey?: string): Promise<{ site_id: string; api_key: string; webhook_secret: string }>
  /** From now on, the WordPress sites at `upstream` prove this registration. */
  prove(registration: { registration_id: string; temp_key: string; domain: string }): void
  release(version: string): { zip: Uint8Array; headers: Record<string, string> }
  close(): Promise<void>
}

const networks = '127.0.0.0/8'

/** What serves the API: the app of a server unless given. */
export interface ServedApp {
  fetch(request: Request, env: object): Response | Promise<Response>
  close(): Promise<void>
}

export interface EveryServiceOptions {
  clock?: TestClock
  openApp?(on: {
    db: Db
    clock: TestClock
    publicUrl: string
    env: Record<string, string>
  }): Promise<ServedApp>
}

export async function openEveryService(
  store: TestStore,
  { clock = testClock(), openApp = openServerApp }: EveryServiceOptions = {},
): Promise<EveryService> {
  const { db, close: closeStore } = await store.open()
  await createTables(db, everyTable)
  const slack = await serveFakeSlack(createFakeSlack(), 0)
  const wordpress = await openWordPress()
  const releaseKey = createReleaseKey()
  const app = await openApp({
    db,
    clock,
    publicUrl: ORIGIN,
    env: {
      FERRYHOOK_SIGNUP: 'open',
      FORM_BRIDGE_ALLOW_HTTP: 'true',
      FORM_BRIDGE_ALLOWED_NETWORKS: networks,
      FORM_BRIDGE_DESTINATION_NETWORKS: networks,
      FORM_BRIDGE_REGISTRATION_LIMIT: '1000',
      FORM_BRIDGE_RELEASE_KEYS: releaseKey.publicKey,
      TWO_KEY_SLACK_API_URL: slack.url,
      TWO_KEY_ALLOWED_NETWORKS: networks,
      TWO_KEY_ALLOW_HTTP: 'true',
    },
  })
  let peers = 0
  let names = 0

  const ask: Ask = async (method, path, { token, body, headers } = {}) => {
    const isJson = body !== undefined && !(body instanceof Uint8Array)
    const init = {
      method,
      headers: {
        origin: ORIGIN,
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
        ...(isJson && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : Buffer.from(body) }),
    }
    // Each call comes from another network, so that no limit of a network decides.
    const incoming = { socket: { remoteAddress: `10.${peers >> 8}.${peers++ & 255}.1` } }
    const response = await app.fetch(new Request(ORIGIN + path, init), { incoming })
    const isText = /json|text/.test(response.headers.get('content-type') ?? '')
    const text = isText && !isStream(response) ? await response.text() : ''
    if (isStream(response)) await response.body?.cancel()
    const content: unknown = parseJson(text)
    const { error } = (content ?? {}) as { error?: { code: string } }
    return { status: response.status, code: error?.code, body: content }
  }

  const document = (await ask('GET', '/openapi.json')).body as {
    paths: Record<string, Record<string, Record<string, unknown>>>
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      permission: String(operation[PERMISSION]),
      schemes: ((operation['security'] ?? []) as object[]).flatMap((each) => Object.keys(each)),
    })),
  )
  const formBridge = (path: string, body: object) => ask('POST', `/form-bridge/v1${path}`, { body })

  return {
    db,
    clock,
    ask,
    operations,
    slack: { team: sampleTeam.id, token: sampleTeam.token, url: slack.url },
    upstream: wordpress.url,

    operator: (grant) => createOperators({ db, clock }).add(`operator-${++names}`, grant),

    async operatorCookie(token) {
      const request = new Request(`${ORIGIN}/server/v1/session`, {
        method: 'POST',
        headers: { origin: ORIGIN, 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      })
      const response = await app.fetch(request, {})
      return /^[^;]+/.exec(response.headers.get('set-cookie') ?? '')?.[0] ?? ''
    },

    async account() {
      const email = `user-${++names}@example.com`
      const body = { email, name: 'Ada', password: PASSWORD }
      const answer = await ask('POST', '/ferryhook/v1/auth/signup', { body })
      expect(answer.status).toBe(201)
      return { id: answer.body.user.id, email, token: answer.body.accessToken }
    },

    async agency(token) {
      const body = { agency_name: 'Acme', contact_email: 'a@example.com', max_sites: 10 }
      const answer = await ask('POST', '/form-bridge/v1/agencies', { token, body })
      expect(answer.status).toBe(201)
      return answer.body
    },

    async site(agencyKey) {
      const joining =
        agencyKey === undefined
          ? undefined
          : await ask('POST', '/form-bridge/v1/agency/join-tokens', { token: agencyKey, body: {} })
      const site_url = `${wordpress.url}/site-${++names}`
      const registered = await formBridge('/register', {
        site_url,
        wp_version: '6.8',
        plugin_version: '1.0.0',
        ...(joining && { join_token: joining.body.token }),
      })
      expect(registered.body).toMatchObject({ temp_key: expect.any(String) })
      Object.assign(wordpress.pending, registered.body)
      const { registration_id, temp_key } = registered.body
      const connected = await formBridge('/exchange', { registration_id, temp_key, site_url })
      expect(connected.body).toMatchObject({ result: 'connected' })
      return connected.body
    },

    prove: (registration) => void Object.assign(wordpress.pending, registration),

    release(version) {
      const zip = pluginZip(version)
      const sha256 = packageHash(zip)
      const signature = signRelease({ slug: 'form-bridge', version, sha256 }, releaseKey.privateKey)
      const type = { 'content-type': 'application/zip' }
      return { zip, headers: { ...type, 'x-fb-release-signature': signature } }
    },

    async close() {
      await app.close()
      await slack.close()
      wordpress.close()
      await closeStore()
    },
  }
}

const openServerApp: NonNullable<EveryServiceOptions['openApp']> = ({ env, ...on }) =>
  testApp({ ...on, services, settings: settings.parse(env) })

function isStream(response: Response): boolean {
  return (response.headers.get('content-type') ?? '').startsWith('text/event-stream')
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Proves to Form-Bridge that it is the site that registered last, and accepts everything else. */
async function openWordPress() {
  const pending = { temp_key: '', registration_id: '', domain: '' }
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://x')
    const { temp_key, registration_id, domain } = pending
    const text = `verify.${searchParams.get('challenge')}.${registration_id}.${domain}`
    const mac = createHmac('sha256', temp_key).update(text).digest('hex')
    response.end(JSON.stringify({ response: mac }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, pending, close: () => void server.close() }
}
