/** The alert rules and the dashboard follow the declared metrics, and name only what a server really serves. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCapacity } from '@strongroom/kit/http/capacity'
import { silentLog } from '@strongroom/kit/log'
import { createMetrics } from '@strongroom/kit/metrics'
import { createTables } from '@strongroom/kit/tables'
import { type TestStore, testStores } from '@strongroom/kit/testing/stores'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { everyTable } from '../../src/data-model.ts'
import { serve } from '../../src/serve.ts'
import { services } from '../../src/services.ts'
import { settings } from '../../src/settings.ts'
import { createStatusMetrics } from '../../src/status/metrics.ts'
import { testApp } from '../test-app.ts'
import { alertRules, rulesYaml } from './alert-rules.ts'
import { dashboard, type DeclaredMetric } from './dashboard.ts'

/** What the code of all services declares, read from the registry of an app. */
async function readDeclaredMetrics(): Promise<DeclaredMetric[]> {
  const [embedded] = testStores() as [TestStore]
  const { db, close } = await embedded.open()
  await createTables(db, everyTable)
  const metrics = createMetrics()
  const capacity = createCapacity({ metrics })
  createStatusMetrics(metrics)
  const app = await testApp({ services, settings: settings.parse({}), db, metrics, capacity })
  const declared = metrics.registry.getMetricsAsArray() as unknown as DeclaredMetric[]
  await app.close()
  await close()
  return declared.map(({ name, help, type, labelNames }) => ({ name, help, type, labelNames }))
}

/** The series names and labels in an expression. */
function namesIn(expr: string): { metrics: string[]; labels: string[] } {
  const metrics =
    expr.match(
      /\b(?:(?:strongroom|form_bridge|process|nodejs)_\w+|ExistenceCheck\w+|SlackAPI\w+)/g,
    ) ?? []
  const grouped = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
  const selected = [...expr.matchAll(/[{,]\s*(\w+)=~?"/g)].map(([, label = '']) => label)
  return { metrics, labels: [...grouped, ...selected] }
}

/** Prometheus adds these, and `le` is the bucket of a histogram. */
const ADDED_LABELS = ['job', 'instance', 'le']

describe('the files for Prometheus and Grafana', () => {
  let declared: DeclaredMetric[]
  let text: string
  let board: ReturnType<typeof dashboard>
  let expressions: string[]
  let close = async () => {}

  beforeAll(async () => {
    declared = await readDeclaredMetrics()
    board = dashboard(declared)
    const targets = board.panels.flatMap((panel) =>
      'targets' in panel ? (panel.targets as { expr: string }[]) : [],
    )
    expressions = [...targets, ...alertRules].map(({ expr }) => expr)

    const directory = await mkdtemp(join(tmpdir(), 'strongroom-metrics-'))
    const env = { PORT: '0', STRONGROOM_METRICS_PORT: '0', STRONGROOM_DATA: directory }
    const server = await serve({ settings: settings.parse(env), services, log: silentLog })
    close = async () => {
      await server.close()
      await rm(directory, { recursive: true })
    }
    const served = async () => (await fetch(server.metricsUrl ?? '')).text()
    await fetch(`${server.url}/in/unknown`, { method: 'POST' })
    // The first figures are read in the background.
    const isSet = async () => (await served()).includes('strongroom_store_free_bytes{')
    await vi.waitUntil(isSet, 30_000)
    text = await served()
  })
  afterAll(() => close())

  test('are the generated ones', async () => {
    const root = '../../../../deploy'
    await expect(rulesYaml(alertRules)).toMatchFileSnapshot(
      `${root}/prometheus/strongroom.rules.yml`,
    )
    await expect(`${JSON.stringify(board, null, 2)}\n`).toMatchFileSnapshot(
      `${root}/grafana/strongroom.json`,
    )
  })

  test('name only metrics that a running server serves', () => {
    const served = new Map(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
    )
    const named = new Set(expressions.flatMap((expr) => namesIn(expr).metrics))
    expect(named.size).toBeGreaterThan(15)
    for (const name of named) {
      const base = name.replace(/_bucket$/, '')
      const types = base === name ? ['counter', 'gauge'] : ['histogram']
      expect(types, name).toContain(served.get(base))
    }
  })

  test('show every metric that is declared', () => {
    const named = new Set(
      expressions
        .flatMap((expr) => namesIn(expr).metrics)
        .map((name) => name.replace(/_bucket$/, '')),
    )
    for (const { name } of declared) expect(named).toContain(name)
  })

  test('use only labels that the metric has', () => {
    const labelsOf = new Map(declared.map(({ name, labelNames }) => [name, labelNames]))
    for (const expr of expressions) {
      const { metrics, labels } = namesIn(expr)
      const known = metrics.flatMap((name) => labelsOf.get(name.replace(/_bucket$/, '')) ?? [])
      for (const label of labels) expect([expr, ...ADDED_LABELS, ...known]).toContain(label)
    }
  })

  test('find the labels of requests in what a running server serves', () => {
    expect(text).toMatch(
      /^strongroom_http_requests_total\{service="ferryhook",.*status="404"\} 1$/m,
    )
    expect(text).toMatch(/^strongroom_http_refused_total\{limit="bodies"\} 0$/m)
    expect(text).toMatch(/^strongroom_work_overdue\{store="embedded"\} 0$/m)
    expect(text).not.toMatch(/^strongroom_last_backup_timestamp_seconds\{/m)
  })
})
