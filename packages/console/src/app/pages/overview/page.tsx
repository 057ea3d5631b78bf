/** What happened to the events of an account, problems first. */
import { type Signal, useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Icon } from '../../parts/icon.tsx'
import { formatExact } from '../../parts/format.ts'
import { type Resource, useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { getOverview, getUsage, type Overview, type Period, periods } from './api.ts'
import { Attention } from './attention.tsx'
import { EventChart, LatencyChart } from './charts.tsx'
import { FirstRun } from './first-run.tsx'
import { SourceTable } from './source-table.tsx'
import { Stats } from './stats.tsx'
import { UsagePanel } from './usage-panel.tsx'

const REFRESH_MS = 30_000

const PERIOD_NAMES: Readonly<Record<Period, string>> = { '24h': '24 h', '7d': '7 d', '30d': '30 d' }

function chosenPeriod(): Period {
  const wanted = param('period')
  return periods.find((period) => period === wanted) ?? '24h'
}

export default function OverviewPage() {
  /** The sources to choose from, also while one is chosen. */
  const names = useSignal<readonly { id: string; name: string }[]>([])
  const overview = useResource(
    async (signal) => {
      const query = { period: chosenPeriod(), sourceId: param('source') }
      const found = await getOverview(query, signal)
      if (query.sourceId === undefined || names.peek().length === 0) names.value = found.sources
      return found
    },
    { everyMs: REFRESH_MS },
  )
  const isNew = overview.data.value?.sources.length === 0 && param('source') === undefined
  return (
    <>
      <Bar
        title="Overview"
        actions={
          !isNew && (
            <>
              <SourceChoice names={names} look="bar-select hide-small" />
              <PeriodChoice />
            </>
          )
        }
      />
      <main id="main">
        {isNew ? (
          <FirstRun />
        ) : (
          <Loaded resource={overview} what="the overview" loading={<Bones />}>
            {(data) => (
              <>
                <Stale resource={overview} />
                <Content overview={data} names={names} />
              </>
            )}
          </Loaded>
        )}
      </main>
    </>
  )
}

/** Old figures stay while newer ones cannot be loaded. */
function Stale({ resource }: { resource: Resource<unknown> }) {
  const { error, fetchedAt } = resource
  if (error.value === undefined || fetchedAt.value === undefined) return null
  return (
    <p class="note note-warn" role="status">
      Figures of {formatExact(fetchedAt.value, { withMs: false })}. {messageOf(error.value)}
    </p>
  )
}

type Names = Signal<readonly { id: string; name: string }[]>

function SourceChoice({ names, look }: { names: Names; look: string }) {
  return (
    <select
      class={`select ${look}`}
      aria-label="Source"
      value={param('source') ?? ''}
      onChange={(event) => setQuery({ source: event.currentTarget.value })}
    >
      <option value="">All sources</option>
      {names.value.map(({ id, name }) => (
        <option value={id} key={id}>
          {name}
        </option>
      ))}
    </select>
  )
}

function PeriodChoice() {
  const period = chosenPeriod()
  return (
    <div class="seg" role="group" aria-label="Period">
      {periods.map((each) => (
        <button
          key={each}
          type="button"
          aria-pressed={each === period}
          onClick={() => setQuery({ period: each === '24h' ? undefined : each })}
        >
          {PERIOD_NAMES[each]}
        </button>
      ))}
    </div>
  )
}

function Content({ overview, names }: { overview: Overview; names: Names }) {
  const usage = useResource(getUsage, { everyMs: REFRESH_MS })
  return (
    <div class="page">
      {!overview.isComplete && (
        <p class="note">
          <Icon name="clock" />
          <span>There are too many new events to count now. The figures are lower bounds.</span>
        </p>
      )}
      {/* The bar has no room for it on a phone. */}
      <SourceChoice names={names} look="only-small" />
      <Stats overview={overview} />
      <div class="cols cols-wide cols-problems">
        <Attention overview={overview} />
        <EventChart overview={overview} />
      </div>
      <div class="cols cols-wide">
        <LatencyChart overview={overview} />
        <UsagePanel usage={usage} />
      </div>
      <SourceTable overview={overview} />
    </div>
  )
}

/** The shape of the page while it loads. */
function Bones() {
  return (
    <div class="page" role="status" aria-busy="true">
      <span class="unseen">Loading</span>
      <div class="stats" aria-hidden="true">
        {[35, 50, 35, 20].map((width, index) => (
          <div class="stat" key={index}>
            <span class="stat-name">
              <span class="bone bone-50" />
            </span>
            <span class="stat-figure">
              <span class={`bone bone-${width}`} />
            </span>
          </div>
        ))}
      </div>
      <div class="panel bone-panel" aria-hidden="true" />
    </div>
  )
}
