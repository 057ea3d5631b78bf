import { createHash } from 'node:crypto'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { Db } from '@strongroom/kit/db'
import { defineErrors } from '@strongroom/kit/errors'
import type { AppEnv } from '@strongroom/kit/http/env'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import type { Service } from '@strongroom/kit/service'
import type { ServiceStatus } from '@strongroom/kit/service-status'
import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { testTimers } from '@strongroom/kit/testing/test-timers'
import { testKmsKey } from '@strongroom/kit/testing/test-secrets'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createServerApp, type ServerApp, type ServerOptions } from '../../src/app.ts'
import { encodeHour } from '../../src/figures/item.ts'
import { startFiguresRecorder } from '../../src/figures/recorder.ts'
import { createFiguresStore } from '../../src/figures/store.ts'
import { settings } from '../../src/settings.ts'
import { createBackupRecord } from '../../src/status/backup.ts'
import { tablesOf } from '../../src/tables.ts'

const service = (name: string, status?: () => Promise<ServiceStatus>): Service => ({
  name,
  title: `Service ${name}`,
  summary: 'For tests',
  mount: `/${name}`,
  tables: [],
  errors: defineErrors(name, {}),
  start: () => ({
    loadRoutes: async () => ({ routes: new OpenAPIHono<AppEnv>() }),
    ...(status && { status }),
  }),
})

describe.each(testStores())('GET /server/v1/status on $name', (store) => {
  let db: Db
  let clock: TestClock
  let closeStore: () => Promise<void>
  const apps: ServerApp[] = []

  beforeEach(async () => {
    ;({ db, close: closeStore } = await store.open())
    await createTables(db, tablesOf([]))
    clock = testClock()
  })
  afterEach(async () => {
    for (const app of apps.splice(0)) await app.close()
    await closeStore()
  })

  async function open({
    services = [],
    store: on,
    kms,
  }: { services?: Service[] } & {
    store?: Partial<ServerOptions['store']>
    kms?: Partial<ServerOptions['kms']>
  } = {}) {
    const described = { label: 'Test', detail: 'here', location: 'here', check: async () => {} }
    const app = await createServerApp({
      services,
      settings: settings.parse({}),
      store: { ...described, db, kind: 'endpoint', close: async () => {}, ...on },
      kms: { ...described, key: await testKmsKey(), kind: 'embedded', ...kms },
      publicUrl: 'https://strongroom.example',
      log: silentLog,
      clock,
      metrics: createMetrics(),
    })
    apps.push(app)
    const name = createHash('sha256').update(String(apps.length)).digest('hex').slice(0, 8)
    const token = await createOperators({ db, clock }).add(name, { role: 'viewer' })
    return async () => {
      const headers = { authorization: `Bearer ${token}` }
      const response = await app.request('/server/v1/status', { headers })
      expect(response.status).toBe(200)
      return JSON.parse(await response.text())
    }
  }

  test('is ready and has no problems if there are none', async () => {
    const get = await open({ services: [service('one')] })
    const status = await get()
    expect(status).toMatchObject({
      state: 'ready',
      problems: [],
      address: 'https://strongroom.example',
      startedAt: '2100-01-01T00:00:00.000Z',
      store: { kind: 'endpoint', label: 'Test', location: 'here', state: 'ready' },
      kms: { state: 'ready' },
      services: [{ name: 'one', title: 'Service one', state: 'ready', note: null }],
      work: null,
      backup: null,
    })
    expect(status.storage.tables.map(({ name }: { name: string }) => name)).toContain(
      'strongroom-operations',
    )
    expect(status.storage.bytes).toBeNull()
  })

  test('has the problems of services, worst first, then the oldest', async () => {
    const problem = (title: string, severity: 'bad' | 'warn', since?: number) => ({
      severity,
      title,
      explanation: 'Because.',
      since,
    })
    const first = service('one', async () => ({
      note: 'Two things',
      problems: [problem('old warning', 'warn', 1_000), problem('new failure', 'bad', 9_000)],
      work: { due: 3, waiting: 1, overdue: 2, oldestDueAt: 7_000, isComplete: true },
    }))
    const second = service('two', async () => ({
      problems: [{ ...problem('old failure', 'bad', 5_000), page: '/server/x', command: 'fix it' }],
      work: { due: 10, waiting: 0, overdue: 0, isComplete: false },
    }))
    const get = await open({ services: [first, second, service('three')] })
    const status = await get()
    expect(status.problems).toEqual([
      {
        severity: 'bad',
        service: 'two',
        title: 'old failure',
        explanation: 'Because.',
        since: '1970-01-01T00:00:05.000Z',
        page: '/server/x',
        command: 'fix it',
      },
      expect.objectContaining({ title: 'new failure', service: 'one', page: null, command: null }),
      expect.objectContaining({ title: 'old warning' }),
    ])
    expect(status.state).toBe('degraded')
    expect(status.services.map(({ state }: { state: string }) => state)).toEqual([
      'degraded',
      'degraded',
      'ready',
    ])
    expect(status.work).toEqual({
      due: 13,
      waiting: 1,
      overdue: 2,
      oldestDueAt: '1970-01-01T00:00:07.000Z',
      isComplete: false,
    })
  })

  test('shows the rest if a service cannot report', async () => {
    const broken = service('one', () => Promise.reject(new Error('Broken')))
    const get = await open({ services: [broken, service('two')] })
    expect((await get()).services).toMatchObject([{ state: 'not_ready' }, { state: 'ready' }])
  })

  test('says since when the store or the KMS does not respond, and how to check it', async () => {
    let isDown = false
    const check = async () => {
      if (isDown) throw new Error('Down')
    }
    const get = await open({ kms: { check } })
    expect((await get()).problems).toEqual([])
    isDown = true
    clock.advance({ minutes: 1 })
    await get()
    clock.advance({ minutes: 5 })
    const status = await get()
    expect(status).toMatchObject({ state: 'not_ready', kms: { state: 'not_ready' } })
    expect(status.problems).toMatchObject([
      {
        title: 'The KMS does not respond',
        since: '2100-01-01T00:01:00.000Z',
        command: 'strongroom kms status',
      },
    ])
  })

  test('warns of the last backup when it is more than a day old', async () => {
    const get = await open()
    const backup = { at: '2100-01-01T00:00:00.000Z', bytes: 6_200, file: '/backups/one.backup' }
    await createBackupRecord(db).put(backup)
    const { Item } = await db.getItem({
      TableName: 'strongroom-operations',
      Key: { PK: 'BACKUP', SK: 'LAST' },
    })
    expect(Item).toEqual({ PK: 'BACKUP', SK: 'LAST', ...backup })
    clock.advance({ hours: 24 })
    expect(await get()).toMatchObject({ backup, problems: [] })
    clock.advance({ hours: 2 })
    expect((await get()).problems).toMatchObject([
      {
        severity: 'bad',
        title: 'No backup since 1 January',
        since: '2100-01-02T00:00:00.000Z',
        command: 'strongroom backup strongroom-2100-01-02.backup',
      },
    ])
  })

  test('warns of a disk that is nearly full', async () => {
    const disk = { bytes: 1e9, freeBytes: 0.5e9, totalBytes: 80e9 }
    const get = await open({ store: { usage: async () => disk } })
    const status = await get()
    expect(status.storage).toMatchObject(disk)
    expect(status.problems).toMatchObject([
      { severity: 'bad', title: 'The disk of the store is nearly full' },
    ])
  })

  test('names a service that fails many requests', async () => {
    const get = await open({ services: [service('one'), service('two')] })
    const metrics = createMetrics()
    for (let each = 0; each < 40; each++) {
      const status = each % 4 === 0 ? 500 : 200
      const observation = { route: '/x', method: 'GET', durationSeconds: 0.01 }
      metrics.observeHttp({ ...observation, service: 'one', status })
      metrics.observeHttp({ ...observation, service: 'two', status: 404 })
    }
    const recorder = startFiguresRecorder({
      store: createFiguresStore({ db, clock }),
      metrics,
      role: 'server',
      version: '1.2.3',
      clock,
      startTimer: () => () => {},
      log: silentLog,
    })
    await recorder.close()
    clock.advance({ minutes: 1 })
    expect(await get()).toMatchObject({
      problems: [{ severity: 'bad', service: 'one', title: 'Service one fails 25 % of requests' }],
      services: [{ state: 'degraded' }, { state: 'ready' }],
    })
  })

  test('is read once for everyone who looks within five seconds', async () => {
    let reads = 0
    const counted = service('one', async () => {
      reads += 1
      return { problems: [] }
    })
    const get = await open({ services: [counted] })
    await Promise.all([get(), get(), get()])
    expect(reads).toBe(1)
    clock.advance({ seconds: 5 })
    await get()
    expect(reads).toBe(2)
  })

  describe('processes', () => {
    const record = (role: 'server' | 'worker', gauges = {}) =>
      startFiguresRecorder({
        store: createFiguresStore({ db, clock }),
        metrics: createMetrics(),
        role,
        version: '1.2.3',
        clock,
        startTimer: testTimers(clock).start,
        log: silentLog,
        gauges: async () => gauges,
      })

    test('are seen with what they have in hand, until they end', async () => {
      const get = await open()
      const worker = record('worker', { strongroom_ferryhook_deliveries_in_hand: 40 })
      await worker.flush()
      expect((await get()).processes).toMatchObject([
        { role: 'worker', version: '1.2.3', pid: process.pid, state: 'running', inHand: 40 },
      ])
      await worker.close()
      clock.advance({ minutes: 10 })
      expect(await get()).toMatchObject({ processes: [], problems: [] })
    })

    test('that stop without ending are a problem, until another one starts on the machine', async () => {
      const get = await open()
      await record('worker').flush()
      clock.advance({ minutes: 4 })
      const status = await get()
      expect(status.processes).toMatchObject([{ role: 'worker', state: 'not_seen' }])
      expect(status.problems).toMatchObject([
        { severity: 'bad', since: '2100-01-01T00:00:00.000Z', command: 'strongroom worker' },
      ])
      await record('worker').flush()
      clock.advance({ seconds: 10 })
      expect((await get()).problems).toEqual([])
    })
  })

  test('estimates the growth of the store from its figures', async () => {
    const get = await open()
    const at = (hour: string, bytes: number) =>
      createFiguresStore({ db, clock }).put({
        PK: 'FIGURES',
        SK: `${hour}#prc_1`,
        role: 'server',
        host: 'here',
        pid: 1,
        version: '1',
        startedAt: `${hour}:00:00.000Z`,
        writtenAt: `${hour}:59:00.000Z`,
        endedAt: `${hour}:59:00.000Z`,
        dropped: 0,
        figures: encodeHour({
          counts: {},
          gauges: { store_bytes: Array.from({ length: 60 }, () => bytes) },
        }).figures,
        expiresAt: Date.parse('2100-01-05T00:00:00Z') / 1000,
      })
    await at('2100-01-01T00', 1_000)
    clock.advance({ hours: 12, minutes: 14 })
    await at('2100-01-01T12', 7_000)
    const { storage } = await get()
    expect(storage.growthPerDayBytes).toBeGreaterThan(9_000)
    expect(storage.growthPerDayBytes).toBeLessThan(12_500)
  })
})
