import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createOperators } from '@strongroom/kit/operators'
import { createTables } from '@strongroom/kit/tables'
import { serviceStores } from '@strongroom/kit/testing/stores'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { startBackgroundTimer } from '@strongroom/platform/timers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startFiguresRecorder } from '../../src/figures/recorder.ts'
import { createFiguresStore } from '../../src/figures/store.ts'
import { settings } from '../../src/settings.ts'
import { tablesOf } from '../../src/tables.ts'
import { testApp } from '../test-app.ts'

describe.each(serviceStores())('GET /server/v1/figures on $name', (store) => {
  async function open() {
    const { db, close } = await store.open()
    const clock = testClock()
    await createTables(db, tablesOf([]))
    const metrics = createMetrics()
    const app = await testApp({ db, clock, metrics, services: [], settings: settings.parse({}) })
    const recorder = startFiguresRecorder({
      store: createFiguresStore({ db, clock }),
      metrics,
      role: 'server',
      version: '1.2.3',
      clock,
      startTimer: startBackgroundTimer,
      log: silentLog,
    })
    onTestFinished(async () => {
      await recorder.close()
      await app.close()
      await close()
    })
    const operators = createOperators({ db, clock })
    const token = await operators.add('reader', { role: 'viewer' })
    const get = async (query: string, as = token) => {
      const headers = { authorization: `Bearer ${as}` }
      const response = await app.request(`/server/v1/figures${query}`, { headers })
      return { status: response.status, body: JSON.parse(await response.text()) }
    }
    return { recorder, get, operators, clock }
  }

  test('has the requests that this server has served, for a viewer', async () => {
    const { recorder, get } = await open()
    await get('')
    await recorder.flush()
    const { status, body } = await get('?period=1h')
    expect(status).toBe(200)
    expect(body).toMatchObject({ period: '1h', stepSeconds: 60, droppedSeries: 0, metrics: [] })
    expect(body.all.requests['2xx']).toHaveLength(60)
    expect(body.services).toMatchObject([{ name: 'server', figures: { total: { requests: 1 } } }])
  })

  test.each([
    ['6h', 72, 300],
    ['24h', 96, 900],
  ])('has %i points of %s', async (period, points, stepSeconds) => {
    const { get } = await open()
    const { body } = await get(`?period=${period}`)
    expect(body.stepSeconds).toBe(stepSeconds)
    expect(body.all.requests['5xx']).toHaveLength(points)
    expect(body.all.latencyMs.p95).toHaveLength(points)
    expect(body.work.due).toHaveLength(points)
  })

  test('adds the counters that are asked for', async () => {
    const { recorder, get } = await open()
    await get('')
    await recorder.flush()
    const { body } = await get('?metric=strongroom_http_rejected_connections_total,unknown')
    expect(body.metrics).toEqual([])
    expect((await get('?metric=a{b}')).status).toBe(400)
    expect((await get(`?metric=${Array.from({ length: 11 }, () => 'a').join(',')}`)).status).toBe(
      400,
    )
    expect((await get('?period=7d')).status).toBe(400)
  })

  test('is refused to an operator of one service', async () => {
    const { get, operators } = await open()
    const token = await operators.add('sealed', { role: 'admin', services: ['sealed'] })
    expect((await get('', token)).body.error.code).toBe('operator.forbidden')
  })
})
