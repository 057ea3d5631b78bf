import { createAuditLog } from '@strongroom/kit/audit-log'
import type { Db } from '@strongroom/kit/db'
import { createOperators } from '@strongroom/kit/operators'
import type { Service } from '@strongroom/kit/service'
import { createTables } from '@strongroom/kit/tables'
import { everyStore } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { keyStoreService } from '@strongroom/key-store/service'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { ServerApp } from '../../src/app.ts'
import type { ServerCapabilities } from '../../src/service-deps.ts'
import { settings } from '../../src/settings.ts'
import { tablesOf } from '../../src/tables.ts'
import { testApp } from '../test-app.ts'

const services: Service<ServerCapabilities>[] = [keyStoreService]
const DAY = 86_400

describe.each(everyStore())('/server/v1/jobs on $name', (store) => {
  let db: Db
  let clock: TestClock
  let app: ServerApp
  let timers: ReturnType<typeof testTimers>
  let closeStore: () => Promise<void>
  let admin: string
  let key: Awaited<ReturnType<typeof testKmsKey>>

  const openApp = async () =>
    testApp({ db, clock, key, services, settings: settings.parse({}), startTimer: timers.start })

  beforeEach(async () => {
    ;({ db, close: closeStore } = await store.open())
    clock = testClock()
    timers = testTimers(clock)
    key = await testKmsKey()
    await createTables(db, tablesOf(services))
    app = await openApp()
    admin = await createOperators({ db, clock }).add('root')
  })
  afterEach(async () => {
    await app.close()
    await closeStore()
  })

  const send = (method: string, path: string, body?: object, token = admin) =>
    app.request(`https://strongroom.example${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })

  async function ask(method: string, path: string, body?: object, token?: string) {
    const response = await send(method, `/server/v1/jobs${path}`, body, token)
    return { status: response.status, body: JSON.parse(await response.text()) }
  }

  const keyStore = async (path: string) =>
    JSON.parse(await (await send('GET', `/key-store/v1${path}`)).text())

  const rotation = (input: object = { olderThanSeconds: 90 * DAY }) => ({
    kind: 'key-store.rotate-keys',
    input,
  })

  async function createKeys(count: number) {
    for (let number = 0; number < count; number++) {
      const created = await send('POST', '/key-store/v1/keys', {})
      expect(created.status).toBe(201)
    }
  }

  /** Lets time pass slowly, so that no step outlasts its lease, until the job is as expected. */
  async function reached(id: string, isReached: (job: { state: string; done: number }) => boolean) {
    for (;;) {
      for (let turn = 0; turn < 5; turn++) {
        const { body } = await ask('GET', `/${id}`)
        if (isReached(body)) return body
      }
      await timers.pass({ seconds: 1 })
    }
  }
  const ended = (id: string) => reached(id, ({ state }) => state !== 'running')

  test('starts a job, shows its progress and lists it', async () => {
    await createKeys(3)
    clock.advance({ days: 100 })
    const started = await ask('POST', '', rotation())
    expect(started).toEqual({
      status: 202,
      body: {
        id: expect.stringMatching(/^job_[0-9A-Z]{26}$/),
        kind: 'key-store.rotate-keys',
        service: 'key-store',
        state: 'running',
        input: { olderThanSeconds: 90 * DAY, perSecond: 10 },
        done: 0,
        total: null,
        counts: {},
        failures: [],
        createdAt: '2100-04-11T00:00:00.000Z',
        createdBy: 'operator:root',
        updatedAt: '2100-04-11T00:00:00.000Z',
        endedAt: null,
        cancelledBy: null,
        problem: null,
        file: null,
      },
    })
    const done = await ended(started.body.id)
    expect(done).toMatchObject({
      state: 'done',
      done: 3,
      total: 3,
      counts: { rotated: 3, young: 0, failed: 0 },
      file: null,
    })
    expect((await ask('GET', '')).body).toEqual({ items: [done], cursor: null })
    const { items } = await createAuditLog({ db, clock }).list({
      action: 'server.job.started',
      limit: 10,
    })
    expect(items).toMatchObject([
      {
        actor: 'operator:root',
        target: done.id,
        after: { kind: 'key-store.rotate-keys', olderThanSeconds: 90 * DAY, perSecond: 10 },
      },
    ])
  })

  test('refuses a second job of a kind, an unknown kind and invalid input', async () => {
    const first = await ask('POST', '', rotation())
    const second = await ask('POST', '', rotation())
    expect(second).toMatchObject({
      status: 409,
      body: { error: { code: 'job.already_running', data: { id: first.body.id } } },
    })
    expect(await ask('POST', '', { kind: 'key-store.nothing', input: {} })).toMatchObject({
      status: 400,
      body: { error: { code: 'request.invalid' } },
    })
    expect(await ask('POST', '', rotation({ olderThanSeconds: -1 }))).toMatchObject({
      status: 400,
      body: { error: { details: [{ path: 'body.input.olderThanSeconds' }] } },
    })
    expect(await ask('GET', '/job_00000000000000000000000000')).toMatchObject({
      status: 404,
      body: { error: { code: 'job.not_found' } },
    })
  })

  test('a server that was restarted in the middle continues the job', async () => {
    await createKeys(12)
    clock.advance({ days: 100 })
    const { body: started } = await ask(
      'POST',
      '',
      rotation({ olderThanSeconds: DAY, perSecond: 1 }),
    )
    await reached(started.id, ({ done }) => done >= 3)
    await app.close()
    timers = testTimers(clock)
    app = await openApp()
    const before = (await ask('GET', `/${started.id}`)).body
    expect(before).toMatchObject({ state: 'running', total: 12 })
    const done = await ended(started.id)
    expect(done).toMatchObject({ state: 'done', done: 12, counts: { rotated: 12 } })
    const { items } = await keyStore('/keys')
    for (const { id } of items) {
      const { versions } = await keyStore(`/keys/${id}`)
      expect(versions).toHaveLength(2)
    }
  })

  test('cancels a job after its current step, with an entry in the audit log', async () => {
    await createKeys(12)
    clock.advance({ days: 100 })
    const { body: started } = await ask(
      'POST',
      '',
      rotation({ olderThanSeconds: DAY, perSecond: 1 }),
    )
    const cancelled = await ask('POST', `/${started.id}/cancel`)
    expect(cancelled).toMatchObject({ status: 202, body: { cancelledBy: 'operator:root' } })
    expect(await ended(started.id)).toMatchObject({ state: 'cancelled' })
    expect(await ask('POST', `/${started.id}/cancel`)).toMatchObject({
      status: 409,
      body: { error: { code: 'job.ended' } },
    })
    const { items } = await createAuditLog({ db, clock }).list({
      action: 'server.job.cancelled',
      limit: 10,
    })
    expect(items).toMatchObject([
      { target: started.id, after: { kind: 'key-store.rotate-keys' }, outcome: 'done' },
    ])
    expect(await ask('POST', '', rotation())).toMatchObject({ status: 202 })
  })

  test('exports the audit log as a file for admins', async () => {
    const log = createAuditLog({ db, clock })
    const hostile = { actor: '=cmd|calc', action: 'server.test', target: 'a "b", c' }
    await log.record({ ...hostile, after: { name: 'x' } })
    await log.record({ actor: 'operator:root', action: 'server.test' })
    clock.advance({ seconds: 1 })
    const start = async (input: object) => {
      const { body } = await ask('POST', '', { kind: 'server.export-audit-log', input })
      return ended(body.id)
    }
    const json = await start({ action: 'server.test' })
    expect(json).toMatchObject({
      state: 'done',
      counts: { entries: 2 },
      file: {
        name: 'audit-log-2100-01-01.ndjson',
        contentType: 'application/x-ndjson',
        bytes: expect.any(Number),
        expiresAt: expect.stringMatching(/^2100-01-08/),
      },
    })
    const download = await send('GET', `/server/v1/jobs/${json.id}/file`)
    expect(download.headers.get('content-disposition')).toBe(
      'attachment; filename="audit-log-2100-01-01.ndjson"',
    )
    const text = await download.text()
    expect(Buffer.byteLength(text)).toBe(json.file.bytes)
    const lines = text.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { actor: 'operator:root', target: null },
      { ...hostile, after: { name: 'x' } },
    ])

    const csv = await start({ format: 'csv', action: 'server.test' })
    const sheet = await (await send('GET', `/server/v1/jobs/${csv.id}/file`)).text()
    expect(sheet.split('\r\n')).toEqual([
      'month,seq,at,actor,action,target,address,outcome,operation,before,after,hash',
      expect.stringContaining(',operator:root,server.test,,,done,,,,'),
      expect.stringContaining(`,'=cmd|calc,server.test,"a ""b"", c",,done,,,"{""name"":""x""}",`),
      '',
    ])

    clock.advance({ days: 7 })
    expect((await ask('GET', `/${csv.id}`)).body.file).toBeNull()
    expect(await ask('GET', `/${csv.id}/file`)).toMatchObject({
      status: 404,
      body: { error: { code: 'job.no_result' } },
    })
  })

  test('an operator starts, sees and cancels only what its role and services allow', async () => {
    const operators = createOperators({ db, clock })
    const viewer = await operators.add('viewer', { role: 'viewer' })
    const editor = await operators.add('editor', { role: 'editor' })
    const keys = await operators.add('keys', { role: 'editor', services: ['key-store'] })
    const other = await operators.add('other', { role: 'editor', services: ['sealed'] })
    const audit = { kind: 'server.export-audit-log', input: {} }
    const forbidden = (requiredRole: string, service: string) => ({
      status: 403,
      body: { error: { code: 'operator.forbidden', data: { requiredRole, service } } },
    })
    expect((await ask('POST', '', rotation(), viewer)).status).toBe(403)
    expect(await ask('POST', '', audit, editor)).toMatchObject(forbidden('admin', 'server'))
    expect(await ask('POST', '', audit, keys)).toMatchObject(forbidden('admin', 'server'))
    expect(await ask('POST', '', rotation(), other)).toMatchObject(forbidden('editor', 'key-store'))
    const { status, body: own } = await ask('POST', '', rotation(), keys)
    expect(status).toBe(202)
    expect((await ask('GET', `/${own.id}`, undefined, viewer)).status).toBe(200)
    expect((await ask('GET', `/${own.id}`, undefined, other)).status).toBe(404)
    expect((await ask('GET', '', undefined, other)).body.items).toEqual([])
    expect((await ask('POST', `/${own.id}/cancel`, undefined, viewer)).status).toBe(403)
    expect((await ask('POST', `/${own.id}/cancel`, undefined, other)).status).toBe(404)
    const { body: exported } = await ask('POST', '', audit)
    await ended(exported.id)
    expect(await ask('GET', `/${exported.id}/file`, undefined, editor)).toMatchObject(
      forbidden('admin', 'server'),
    )
    expect((await ask('GET', `/${exported.id}/file`, undefined, keys)).status).toBe(404)
  })

  test('pages are continued by cursor', async () => {
    const ids: string[] = []
    for (let number = 0; number < 3; number++) {
      clock.advance({ seconds: 1 })
      const { body } = await ask('POST', '', { kind: 'server.export-audit-log', input: {} })
      await ended(body.id)
      ids.unshift(body.id)
    }
    const first = (await ask('GET', '?limit=2')).body
    const rest = (await ask('GET', `?limit=2&cursor=${first.cursor}`)).body
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(ids)
    expect((await ask('GET', '?cursor=abc')).body.error.code).toBe('request.invalid_cursor')
  })
})
