/** The Grafana dashboard: one panel for each declared metric, so that a new one cannot be forgotten. */

export interface DeclaredMetric {
  name: string
  help: string
  type: string
  labelNames: readonly string[]
}

/** Routes and methods would be hundreds of lines in a chart. */
const GROUPED_BY: Readonly<Record<string, readonly string[]>> = {
  strongroom_http_requests_total: ['service', 'status'],
  strongroom_http_request_duration_seconds: ['service'],
}

/** Of the process itself, which Node's metrics library declares. */
const PROCESS: readonly DeclaredMetric[] = [
  {
    name: 'process_resident_memory_bytes',
    help: 'Memory of the process',
    type: 'gauge',
    labelNames: [],
  },
  {
    name: 'nodejs_eventloop_lag_p99_seconds',
    help: 'Delay of the event loop, 99th percentile',
    type: 'gauge',
    labelNames: [],
  },
]

const ROWS: readonly (readonly [title: string, names: RegExp])[] = [
  ['Server', /^strongroom_(?:http|work|store|last_backup)_/],
  ['Ferryhook', /^strongroom_ferryhook_/],
  ['Form-Bridge', /^form_bridge_/],
  ['Two-key', /^(?:strongroom_two_key_|ExistenceCheck|SlackAPI)/],
  ['Process', /^(?:process|nodejs)_/],
]

const WIDTH = 8
const HEIGHT = 8
const GRID = 24

export function dashboard(declared: readonly DeclaredMetric[]) {
  const metrics = [...declared, ...PROCESS]
  const panels: object[] = []
  let top = 0
  for (const [title, names] of ROWS) {
    panels.push({ type: 'row', title, gridPos: { x: 0, y: top, w: GRID, h: 1 }, panels: [] })
    top += 1
    const own = metrics.filter(({ name }) => names.test(name)).toSorted(byName)
    own.forEach((metric, at) => {
      const x = (at * WIDTH) % GRID
      const y = top + Math.floor((at * WIDTH) / GRID) * HEIGHT
      panels.push(panel(metric, { x, y, w: WIDTH, h: HEIGHT }))
    })
    top += Math.ceil((own.length * WIDTH) / GRID) * HEIGHT
  }
  const missing = metrics.filter(({ name }) => !ROWS.some(([, names]) => names.test(name)))
  if (missing.length > 0)
    throw new Error(`No row of the dashboard has ${missing.map(({ name }) => name).join(', ')}`)
  return {
    title: 'Strongroom',
    uid: 'strongroom',
    schemaVersion: 39,
    tags: ['strongroom'],
    time: { from: 'now-6h', to: 'now' },
    refresh: '1m',
    templating: {
      list: [{ name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' }],
    },
    panels: panels.map((each, at) => ({ id: at + 1, ...each })),
  }
}

function panel(metric: DeclaredMetric, gridPos: object) {
  const datasource = { type: 'prometheus', uid: '${datasource}' }
  return {
    type: 'timeseries',
    title: metric.help,
    description: metric.name,
    gridPos,
    datasource,
    fieldConfig: { defaults: { unit: unitOf(metric), min: 0 }, overrides: [] },
    targets: targetsOf(metric).map((target, at) => ({
      refId: String.fromCodePoint('A'.codePointAt(0)! + at),
      datasource,
      ...target,
    })),
  }
}

function targetsOf(metric: DeclaredMetric): { expr: string; legendFormat: string }[] {
  const { name, type } = metric
  const labels = GROUPED_BY[name] ?? metric.labelNames
  const legend = labels.map((label) => `{{${label}}}`).join(' ')
  if (type === 'histogram') {
    const buckets = `sum by (${[...labels, 'le'].join(', ')}) (rate(${name}_bucket[$__rate_interval]))`
    return [0.5, 0.95].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, ${buckets})`,
      legendFormat: `p${quantile * 100} ${legend}`.trim(),
    }))
  }
  if (type === 'gauge')
    return [{ expr: `${name}{job="strongroom"}`, legendFormat: `{{instance}} ${legend}`.trim() }]
  const by = labels.length === 0 ? '' : ` by (${labels.join(', ')})`
  return [{ expr: `sum${by} (rate(${name}[$__rate_interval]))`, legendFormat: legend || 'all' }]
}

function unitOf({ name, type }: DeclaredMetric): string {
  if (name.endsWith('_timestamp_seconds')) return 'dateTimeAsIso'
  if (name.endsWith('_seconds')) return 's'
  if (name.endsWith('_bytes')) return 'bytes'
  if (name === 'SlackAPILatency') return 'ms'
  return type === 'counter' ? 'cps' : 'short'
}

const byName = (a: DeclaredMetric, b: DeclaredMetric) => (a.name < b.name ? -1 : 1)
