import type { Db } from '@strongroom/kit/db'
import { silentLog } from '@strongroom/kit/log'
import { Counter, createMetrics, type Metrics } from '@strongroom/kit/metrics'
import { operationsTable } from '@strongroom/kit/operations-table'
import { createTables } from '@strongroom/kit/tables'
import { testStores } from '@strongroom/kit/testing/stores'
import { type TestClock, testClock } from '@strongroom/kit/testing/test-clock'
import { type TestTimers, testTimers } from '@strongroom/kit/testing/test-timers'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { decodeHour, MAX_FIGURES_BYTES, MAX_SERIES } from '../../src/figures/item.ts'
import { type FiguresRecorder, startFiguresRecorder } from '../../src/figures/recorder.ts'
import { createFiguresService } from '../../src/figures/service.ts'
import { createFiguresStore, type FiguresStore } from '../../src/figures/store.ts'

describe.each(testStores())('the figures of a process on $name', (store) => {
  let db: Db
  let closeStore: () => Promise<void>
  let clock: TestClock
  let timers: TestTimers
  let figures: FiguresStore
  const recorders: FiguresRecorder[] = []

  beforeEach(async () => {
    ;({ db, close: closeStore } = await store.open())
    await createTables(db, [operationsTable])
    clock = testClock()
    timers = testTimers(clock)
    figures = createFiguresStore({ db, clock })
  })
  afterEach(async () => {
    for (const recorder of recorders.splice(0)) await recorder.close()
    await closeStore()
  })

  function start(
    metrics: Metrics,
    options: Partial<Parameters<typeof startFiguresRecorder>[0]> = {},
  ) {
    const recorder = startFiguresRecorder({
      store: figures,
      metrics,
      role: 'server',
      version: '1.2.3',
      clock,
      startTimer: timers.start,
      log: silentLog,
      ...options,
    })
    recorders.push(recorder)
    return recorder
  }

  const request = (metrics: Metrics, status = 200, durationSeconds = 0.004, service = 'sealed') =>
    metrics.observeHttp({ service, route: '/x', method: 'GET', status, durationSeconds })

  const read = (period: '1h' | '6h' | '24h' = '1h') =>
    createFiguresService({ store: figures, clock }).read(period)

  const sum = (values: readonly number[] = []) => values.reduce((all, each) => all + each, 0)

  test('are summed over processes and kept by minute, and an hour begins a new item', async () => {
    clock.advance({ minutes: 57 })
    const [one, two] = [createMetrics(), createMetrics()]
    const [first, second] = [start(one), start(two, { role: 'worker' })]
    await Promise.all([first.flush(), second.flush()])
    for (let minute = 0; minute < 5; minute++) {
      request(one)
      request(two, 503, 2)
      clock.advance({ seconds: 30 })
      await Promise.all([first.flush(), second.flush()])
      clock.advance({ seconds: 30 })
    }
    const { all, services } = await read()
    expect(all.requests['2xx'].slice(-6, -1)).toEqual([1, 1, 1, 1, 1])
    expect(services.get('sealed')?.requests['5xx'].slice(-6, -1)).toEqual([1, 1, 1, 1, 1])
    expect(all.total).toMatchObject({ requests: 10, errors: 5 })
    const stored = await figures.listSince(0)
    expect(stored.map(({ SK }) => SK.slice(0, 14)).toSorted()).toEqual([
      '2100-01-01T00#',
      '2100-01-01T00#',
      '2100-01-01T01#',
      '2100-01-01T01#',
    ])
  })

  test('are written once a minute, and the last ones when the process ends', async () => {
    const metrics = createMetrics()
    let writes = 0
    const put: FiguresStore['put'] = (item) => {
      writes += 1
      return figures.put(item)
    }
    const recorder = start(metrics, { store: { put } })
    await recorder.flush()
    writes = 0
    request(metrics)
    await timers.pass({ seconds: 60 })
    await recorder.flush()
    expect(writes).toBe(2)
    request(metrics)
    await recorder.close()
    const [item, ...more] = await figures.listSince(0)
    expect(more).toEqual([])
    expect(item).toMatchObject({
      PK: 'FIGURES',
      role: 'server',
      version: '1.2.3',
      pid: process.pid,
      startedAt: '2100-01-01T00:00:00.000Z',
      writtenAt: '2100-01-01T00:01:00.000Z',
      endedAt: '2100-01-01T00:01:00.000Z',
      dropped: 0,
    })
    expect(item?.expiresAt).toBe(Date.parse('2100-01-02T01:01:00Z') / 1000)
    const counts = decodeHour(item!).counts['requests{service="sealed",class="2xx"}']
    expect(counts?.slice(0, 3)).toEqual([1, 1, 0])
  })

  test('are read only until they expire', async () => {
    const metrics = createMetrics()
    request(metrics)
    await start(metrics).flush()
    clock.advance({ hours: 25 })
    expect(await figures.listSince(0)).toEqual([])
  })

  test('lose nothing by failed writes, and no request notices', async () => {
    clock.advance({ minutes: 59 })
    const metrics = createMetrics()
    let isDown = true
    const put: FiguresStore['put'] = async (item) => {
      if (isDown) throw new Error('The store is down')
      await figures.put(item)
    }
    const recorder = start(metrics, { store: { put } })
    request(metrics)
    await recorder.flush()
    clock.advance({ minutes: 1 })
    isDown = false
    request(metrics)
    await recorder.flush()
    const { all } = await read()
    expect(all.total.requests).toBe(2)
  })

  test('have at most 300 series; the others are dropped and counted', async () => {
    const metrics = createMetrics()
    const counter = new Counter({
      name: 'many_total',
      help: 'Many',
      labelNames: ['each'],
      registers: [metrics.registry],
    })
    for (let each = 0; each < 400; each++) counter.inc({ each })
    request(metrics)
    const recorder = start(metrics)
    await recorder.flush()
    for (let each = 0; each < 500; each++) counter.inc({ each })
    await recorder.flush()
    const [item] = await figures.listSince(0)
    const { counts, gauges } = decodeHour(item!)
    expect(Object.keys(counts).length + Object.keys(gauges).length).toBe(MAX_SERIES)
    expect(counts['requests{service="sealed",class="2xx"}']?.[0]).toBe(1)
    const { dropped } = await read()
    expect(dropped).toBeGreaterThanOrEqual(200)
    const shown =
      500 - [...(await read()).counts.keys()].filter((name) => name.startsWith('many')).length
    expect(dropped).toBe(shown)
  })

  test('are limited in bytes, whatever the values are', async () => {
    const metrics = createMetrics()
    const counter = new Counter({
      name: 'large_total',
      help: 'Large',
      labelNames: ['each'],
      registers: [metrics.registry],
    })
    const recorder = start(metrics)
    for (let minute = 0; minute < 60; minute++) {
      for (let each = 0; each < 299; each++) {
        counter.inc({ each }, 1 + ((minute * 7_919 + each * 104_729) ** 2 % 1_000_000_007) * 1_000)
      }
      await recorder.flush()
      clock.advance({ minutes: 1 })
    }
    const items = await figures.listSince(0)
    for (const item of items) expect(item.figures.length).toBeLessThanOrEqual(MAX_FIGURES_BYTES)
    expect(items[0]?.dropped).toBeGreaterThan(0)
    expect(Object.keys(decodeHour(items[0]!).counts).length).toBeGreaterThan(50)
  })

  test('have percentiles of latency by service, and null where nothing was requested', async () => {
    const metrics = createMetrics()
    for (let each = 0; each < 95; each++) request(metrics, 200, 0.0008)
    for (let each = 0; each < 5; each++) request(metrics, 200, 2)
    request(metrics, 200, 0.2, 'two-key')
    await start(metrics).flush()
    clock.advance({ minutes: 2 })
    const { services, all } = await read()
    const { p50, p95 } = services.get('sealed')!.total
    expect(p50).toBeCloseTo(0.000526, 5)
    expect(p95).toBeLessThanOrEqual(0.001)
    expect(services.get('two-key')?.total.p95).toBeGreaterThan(0.1)
    expect(all.p50.at(-3)).toBeGreaterThan(0)
    expect(all.p50.at(-1)).toBeNull()
    expect(sum(all.requests['2xx'])).toBe(101)
    expect(all.current.perSecond).toBeCloseTo(101 / 300, 3)
  })

  test('add gauges of processes that share them, and take the highest of what is the same for all', async () => {
    const gauges = async () => ({ work_due: 7, strongroom_ferryhook_deliveries_in_hand: 3 })
    await start(createMetrics(), { gauges }).flush()
    await start(createMetrics(), { gauges }).flush()
    const found = (await read()).gauges
    expect(found.get('work_due')?.at(-1)).toBe(7)
    expect(found.get('strongroom_ferryhook_deliveries_in_hand')?.at(-1)).toBe(6)
  })

  test('are written without the gauges that cannot be read', async () => {
    const metrics = createMetrics()
    request(metrics)
    const gauges = async () => {
      throw new Error('The queue cannot be read')
    }
    await start(metrics, { gauges }).flush()
    expect((await read()).all.total.requests).toBe(1)
  })
})
