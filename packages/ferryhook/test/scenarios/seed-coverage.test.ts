import { fileURLToPath } from 'node:url'
import type { Item } from '@strongroom/kit/db'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import { type FunctionRecorder, recordFunctions } from '@strongroom/kit/testing/reached-functions'
import { collectItems, compareSeedCoverage } from '@strongroom/kit/testing/seed-coverage'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { secretBox } from '@strongroom/kit/testing/test-secrets'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { beforeAll, describe, expect, test } from 'vitest'
import { createWorkScheduler } from '../../src/sandbox/work-scheduler.ts'
import { tables } from '../../src/tables.ts'
import { createWorker } from '../../src/worker/worker.ts'
import { enrol, firstStep, secondStep } from '../support/second-factors.ts'
import { openGithub } from '../support/local-github.ts'
import { openApi, ORIGIN, PASSWORD, type Person } from '../support/test-api.ts'
import { answer, openSink } from '../support/test-destination.ts'

const directory = fileURLToPath(new URL('../../', import.meta.url))

describe.each(serviceStores().slice(0, 1))('Ferryhook over HTTP, with a worker', (store) => {
  let recorder: FunctionRecorder
  beforeAll(async () => {
    recorder = await recordFunctions()
  })
  const api = openApi(store, {
    FERRYHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    FERRYHOOK_ALLOW_HTTP: 'true',
    FERRYHOOK_DEFAULT_PLAN: 'free',
  })
  const items = new Map<string, Item[]>()
  const collect = () => collectItems(api.db, tables, items)

  /** What people do with accounts and keys. */
  async function useAccounts(ada: Person) {
    const { token } = ada
    const { ticket } = (await api.ask('POST', '/invites', { token: api.operator })).body
    const body = { email: 'bob@example.com', name: 'Bob', password: PASSWORD, invite: ticket }
    const bob = await api.ask('POST', '/auth/signup', { body })
    await api.ask('POST', '/auth/login', { body: { email: ada.email, password: PASSWORD } })
    await api.ask('POST', '/auth/refresh', {
      cookies: ada.cookies,
      headers: { origin: ORIGIN },
    })
    const made = await api.ask('POST', '/api-keys', {
      token,
      body: { name: 'CI', permissions: 'read' },
    })
    await api.ask('GET', '/sources', { token: made.body.key })
    await api.ask('GET', '/api-keys', { token })
    await collect()
    await api.ask('DELETE', `/api-keys/${made.body.id}`, { token })
    await api.ask('PATCH', '/account', { token, body: { name: 'Ada L.' } })
    await api.ask('GET', '/audit', { token })
    await api.ask('GET', '/users', { token: api.operator })
    const reset = await api.ask('POST', `/users/${bob.body.user.id}/password-resets`, {
      token: api.operator,
    })
    const password = 'another long password'
    await api.ask('POST', '/auth/password-reset', { body: { ticket: reset.body.ticket, password } })
    const login = { email: 'bob@example.com', password }
    const { body: session } = await api.ask('POST', '/auth/login', { body: login })
    await collect()
    await useSecondFactor(await api.person())
    const other = await api.ask('POST', '/auth/login', { body: login })
    const { items: listed } = (
      await api.ask('GET', '/account/sessions', { token: other.body.accessToken })
    ).body
    const { id } = listed.find((each: { current: boolean }) => each.current)
    await api.ask('DELETE', `/account/sessions/${id}`, { token: session.accessToken })
    const gone = await api.ask('POST', '/account/delete', {
      token: session.accessToken,
      body: { currentPassword: password },
    })
    expect(gone.status).toBe(204)
    await signInWithGithub()
  }

  async function useSecondFactor(person: Person) {
    const enrolled = await enrol(api, person)
    const proof = { method: 'totp', code: enrolled.code() }
    await secondStep(api, await firstStep(api, person), proof)
    await collect()
    await api.ask('DELETE', `/users/${person.id}/second-factor`, { token: api.operator })
  }

  async function signInWithGithub() {
    const github = await openGithub(`${ORIGIN}/ferryhook/v1/auth/github/callback`)
    github.user = {
      id: 1,
      login: 'eve',
      name: 'Eve',
      emails: [{ email: 'eve@example.com', primary: true, verified: true }],
    }
    const ask = await api.another({
      FERRYHOOK_GITHUB_URL: github.url,
      FERRYHOOK_GITHUB_API_URL: github.apiUrl,
      FERRYHOOK_GITHUB_CLIENT_ID: github.clientId,
      FERRYHOOK_GITHUB_CLIENT_SECRET: github.clientSecret,
    })
    const begun = await ask('GET', '/auth/github')
    const provider = await fetch(begun.headers.get('location') ?? '', { redirect: 'manual' })
    const { search } = new URL(provider.headers.get('location') ?? '')
    await ask('GET', `/auth/github/callback${search}`, { cookies: begun.cookies })
    await github.close()
  }

  /** What happens to events, from the receipt to their expiry. */
  async function useEvents({ token, ...person }: Person) {
    const sink = await openSink(api.clock)
    const timers = testTimers(api.clock)
    const fetcher = createSafeFetch({
      allow: ['127.0.0.0/8'],
      allowHttp: true,
      ports: 'unprivileged',
      clock: api.clock,
      startTimer: timers.start,
    })
    const worker = createWorker({
      stores: api.stores,
      clock: api.clock,
      startTimer: timers.start,
      fetcher,
      secretBox,
      sandbox: { run: () => Promise.reject(new Error('No scripts here')), close: async () => {} },
      scheduler: createWorkScheduler(),
      log: silentLog,
      metrics: createMetrics(),
      workerConfig: { cacheMs: 0 },
    })
    const ask = (method: string, path: string, body?: object) =>
      api.ask(method, path, { token, ...(body && { body }) })
    const live = async (seconds: number) => {
      await timers.pass({ ms: seconds * 1000 })
      await worker.runOnce()
    }
    const sourceId = await api.source({ token, ...person })
    const receive = async (body: string, headers: Record<string, string> = {}) => {
      const received = await api.app.request(`/in/${sourceId}`, { method: 'POST', body, headers })
      await worker.runOnce()
      return ((await received.json()) as { id: string }).id
    }
    await receive('{}')
    const made = await api.connection({ token, ...person }, sourceId, {
      destinationUrl: sink.url('/hook'),
    })
    const { id } = made.body
    const tried = await api.connection({ token, ...person }, sourceId, {
      destinationUrl: 'test:200',
    })
    const first = await receive('{"n":1}')
    await receive('x'.repeat(10_000))
    sink.behave('/hook', answer(503))
    await receive('{"n":2}')
    await live(40)
    sink.behave('/hook', answer(200))
    await live(600)
    await ask('GET', `/events/${first}`)
    await ask('GET', `/sources/${sourceId}/events`)
    await ask('POST', `/events/${first}/replay`, {})
    await worker.runOnce()
    await ask('PATCH', `/connections/${id}`, { name: 'Renamed' })
    await ask('GET', `/sources/${sourceId}/connections`)
    await ask('PATCH', `/sources/${sourceId}`, { name: 'Renamed' })
    await ask('POST', `/connections/${id}/pause`)
    await receive('{"n":3}')
    await ask('POST', `/connections/${id}/resume`)
    await live(10)
    await collect()
    await ask('POST', `/connections/${id}/pause`)
    await receive('{"n":4}')
    for (let hour = 0; hour < 6; hour++) await live(3_600)
    await live(30 * 86_400)
    await live(60)
    await ask('GET', '/usage')
    await ask('DELETE', `/connections/${tried.body.id}`)
    await ask('DELETE', `/sources/${sourceId}`)
    await collect()
    await timers.until(worker.close())
    await sink.close()
    await fetcher.close()
  }

  test('reaches everything that its coverage page names', async () => {
    const ada = await api.person()
    await useAccounts(ada)
    // A key, because access tokens expire in an hour.
    await useEvents({ ...ada, token: await api.key(ada, 'admin') })
    const functions = await recorder.stop()
    expect(await compareSeedCoverage(directory, { functions, items })).toEqual({
      unreached: [],
      noLongerPending: [],
    })
  })
})
