/** Machines that run the service on one store, with one fake Slack and an app that records requests. */
import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { Db } from '@strongroom/kit/db'
import { createApp } from '@strongroom/kit/http/app'
import { createLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { mountService } from '@strongroom/kit/http/mount-service'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { secretBox, testSecrets } from '@strongroom/kit/testing/test-secrets'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { afterAll, afterEach } from 'vitest'
import { createFakeSlack } from '../../src/fake-slack/fake-slack.ts'
import { type FakeKind, fakeRequest } from '../../src/fake-slack/requests.ts'
import { sampleTeam, type FakeTeam } from '../../src/fake-slack/fixtures.ts'
import { twoKeyService } from '../../src/service.ts'
import { startTwoKey } from '../../src/start.ts'

export const SECRET = 'a-signing-secret-of-slack'
export const otherTeam: FakeTeam = {
  id: 'T00000002',
  token: 'xoxb-fake-00000002',
  scopes: ['users:read', 'channels:read', 'groups:read', 'mpim:read'],
  users: [{ id: 'U00000009' }],
  channels: [{ id: 'C00000009' }],
}

interface Received {
  headers: IncomingMessage['headers']
  body: Buffer
}

/** An app whose responses a test chooses. */
export function upstreamApp() {
  const received: Received[] = []
  let response = (_req: IncomingMessage, res: ServerResponse): void => void res.end()
  const plain = response
  let arrived = () => {}
  const server = createServer((req, res) => {
    void buffer(req).then((body) => {
      received.push({ headers: req.headers, body })
      response(req, res)
      return arrived()
    })
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })
  afterEach(() => {
    received.length = 0
    response = plain
  })
  return {
    received,
    url: async () => {
      if (!server.listening) {
        await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
      }
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack`
    },
    responses(next: typeof response) {
      response = next
    },
    nextArrival: async () => new Promise<void>((resolve) => (arrived = resolve)),
  }
}

export interface Cluster {
  clock: TestClock
  timers: ReturnType<typeof testTimers>
  slack: ReturnType<typeof createFakeSlack>
  logged: string[]
  /** On the store, or on a wrapper around it. */
  start(db?: Db): Promise<Machine>
}

export type Machine = Awaited<ReturnType<typeof startMachine>>

/** One Slack, one clock and one log for all machines that share a store. */
export function createCluster(opened: { db: Db }): Cluster {
  const clock = testClock()
  const timers = testTimers(clock)
  const slack = createFakeSlack({ teams: [sampleTeam, otherTeam], clock })
  const logged: string[] = []
  const closers: (() => Promise<void>)[] = []
  afterAll(async () => {
    for (const close of closers) await close()
  })
  return {
    clock,
    timers,
    slack,
    logged,
    async start(db = opened.db) {
      const machine = await startMachine({ db, clock, timers, slack, logged })
      closers.push(machine.close)
      return machine
    },
  }
}

async function startMachine(on: Omit<Cluster, 'start'> & { db: Db }) {
  const { db, clock, timers, slack } = on
  const log = createLog({ level: 'debug', clock, sink: (line) => void on.logged.push(line) })
  const metrics = createMetrics()
  const app = createApp({ log, metrics })
  const deps = {
    db,
    clock,
    log,
    metrics,
    secrets: testSecrets(),
    publicUrl: 'https://strongroom.example',
    secretBox,
    config: {
      TWO_KEY_SLACK_API_URL: 'https://slack.example/api',
      TWO_KEY_SLACK_SHARE: 80,
      TWO_KEY_CACHE_MAC: false,
      TWO_KEY_ALLOWED_NETWORKS: ['127.0.0.0/8'],
      TWO_KEY_ALLOW_HTTP: true,
    },
  }
  const start = () => startTwoKey(deps, { fetch: slack.fetch, startTimer: timers.start })
  const running = await mountService(app, { ...twoKeyService, start }, deps)
  const operators = createOperators({ db, clock })
  const token = await operators.add(`ops-${randomBytes(6).toString('hex')}`)

  async function operate(method: string, path: string, body?: unknown, as: string | null = token) {
    const response = await app.request(`/two-key/v1${path}`, {
      method,
      headers: {
        ...(as !== null && { authorization: `Bearer ${as}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    // oxlint-disable-next-line typescript/no-explicit-any -- tests assert its shape
    const json: any = text === '' ? undefined : JSON.parse(text)
    return { status: response.status, body: json }
  }

  /** Sends a request as Slack does, signed now. */
  async function send(
    name: string,
    request: FakeKind | { body: string; headers: Record<string, string> },
    given: Partial<Parameters<typeof fakeRequest>[1]> = {},
  ) {
    const { body, headers } =
      typeof request === 'string'
        ? fakeRequest(request, { signingSecret: SECRET, nowMs: clock.now(), ...given })
        : request
    const path = `/two-key/slack/${name}/events`
    const response = await app.request(path, { method: 'POST', headers, body })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  return {
    operate,
    send,
    request: app.request,
    document: () =>
      running.routes.getOpenAPI31Document({ openapi: '3.1.0', info: { title: 't', version: '1' } }),
    metrics: async () => metrics.text(),
    close: async () => running.close?.(),
  }
}

/** A store in which one table stops responding after `hang()`. */
export function hangingDb(db: Db, table: string) {
  let isHanging = false
  let onCall = () => {}
  const called = new Promise<void>((resolve) => (onCall = resolve))
  const hanging = new Proxy(db, {
    get(target, name: keyof Db) {
      const call = target[name] as (input: { TableName?: string }) => Promise<unknown>
      return async (input: { TableName?: string }) => {
        if (!isHanging || !input.TableName?.endsWith(table)) return call.call(target, input)
        onCall()
        return new Promise(() => {})
      }
    },
  })
  return { db: hanging, called, hang: () => void (isHanging = true) }
}

/** A store that loses the response to the next write to one table after `lose()`. */
export function losingDb(db: Db, table: string) {
  let isLosing = false
  const losing = new Proxy(db, {
    get(target, name: keyof Db) {
      const call = target[name] as (input: object) => Promise<unknown>
      const writes = ['putItem', 'deleteItem', 'transactWriteItems']
      return async (input: object) => {
        const response = await call.call(target, input)
        const isWrite = writes.includes(name) && JSON.stringify(input).includes(`${table}"`)
        if (!isLosing || !isWrite) return response
        isLosing = false
        throw Object.assign(new Error('The response was lost'), { name: 'TimeoutError' })
      }
    },
  })
  return { db: losing, lose: () => void (isLosing = true) }
}

let made = 0

/** An app with the tokens of both workspaces and a unique name. */
export async function newApp(machine: Machine, url: string, given: Record<string, unknown> = {}) {
  const name = `app-${++made}`
  const { kind = 'app', ...rest } = given
  const added = await machine.operate('POST', '/apps', {
    name,
    signingSecret: SECRET,
    upstream: { url, kind },
    ...rest,
  })
  if (added.status !== 201)
    throw new Error(`The app could not be added: ${JSON.stringify(added.body)}`)
  for (const { id, token } of [sampleTeam, otherTeam]) {
    await machine.operate('PUT', `/apps/${name}/tokens/${id}`, { token })
  }
  return name
}
