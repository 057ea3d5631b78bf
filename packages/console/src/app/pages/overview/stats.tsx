/** The figures at the top. Each leads to the events behind it. */
import type { ComponentChildren } from 'preact'
import { formatCount, formatDuration, formatNumber, formatPercent } from '../../parts/format.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Status } from '../../parts/status.tsx'
import { param } from '../../router.ts'
import type { Overview, Period } from './api.ts'
import { eventsHref } from './links.ts'

const BEFORE: Readonly<Record<Period, string>> = {
  '24h': 'on the 24 hours before',
  '7d': 'on the 7 days before',
  '30d': '',
}

/** The last bucket, which is not over. */
const NOW: Readonly<Record<Period, string>> = {
  '24h': 'in this hour',
  '7d': 'in these six hours',
  '30d': 'today',
}

/** Smaller differences say nothing. */
const MIN_LATENCY_FACTOR = 1.5
const MIN_POINTS = 0.0001

export function Stats({ overview }: { overview: Overview }) {
  const { byStatus } = overview.events
  const range = { from: overview.from, to: overview.to, source: param('source') }
  const waiting = ['retrying', 'held', 'processing', 'received'] as const
  const all = waiting.reduce((sum, status) => sum + byStatus[status], 0)
  const shown = waiting.filter((status) => byStatus[status] > 0)
  return (
    <div class="stats">
      <Stat
        name="Events"
        figure={formatNumber(overview.events.total)}
        href={eventsHref(range)}
        spark={<Sparkline values={overview.buckets.map(({ events }) => events.total)} />}
        note={volumeNote(overview)}
      />
      <Stat
        name="Success rate"
        figure={overview.successRate === null ? '–' : formatPercent(overview.successRate)}
        href={eventsHref(range, { status: 'failed' })}
        spark={<SuccessSpark overview={overview} />}
        note={successNote(overview)}
      />
      <Stat
        name="Delivery latency"
        figure={
          overview.latencyMs.p50 === null ? (
            '–'
          ) : (
            <>
              {formatDuration(overview.latencyMs.p50)} <small>p50</small>
            </>
          )
        }
        href={eventsHref(range, { status: 'delivered' })}
        spark={
          <Sparkline
            values={overview.buckets.map(({ latencyMs }) => latencyMs.p95)}
            isBad={latencyFactor(overview) >= MIN_LATENCY_FACTOR}
          />
        }
        note={latencyNote(overview)}
      />
      <Stat
        name="Waiting"
        figure={formatNumber(all)}
        href={eventsHref(range, { status: (shown.length > 0 ? shown : waiting).join(',') })}
        note={
          shown.length === 0
            ? 'Nothing is in progress'
            : shown.map((status) => (
                <Status status={status} key={status}>
                  {formatNumber(byStatus[status])} {status}
                </Status>
              ))
        }
      />
    </div>
  )
}

function Stat(props: {
  name: string
  figure: ComponentChildren
  href: string
  spark?: ComponentChildren
  note: ComponentChildren
}) {
  return (
    <a class="stat" href={props.href}>
      <span class="stat-name">{props.name}</span>
      <span class="stat-figure">{props.figure}</span>
      {props.spark ?? <span />}
      <span class="stat-note stat-parts">{props.note}</span>
    </a>
  )
}

/** Whole buckets only, because the last one is not over. */
function volumeNote({ buckets, previous, period }: Overview): ComponentChildren {
  const before = previous?.events.total ?? 0
  const whole = buckets.slice(0, -1).reduce((sum, { events }) => sum + events.total, 0)
  if (before === 0)
    return `${formatCount(buckets.at(-1)?.events.total ?? 0, 'event')} ${NOW[period]}`
  const change = whole / before - 1
  const sign = change < 0 ? '−' : '+'
  return (
    <>
      <span class="delta">
        {sign}
        {formatPercent(Math.abs(change), 0)}
      </span>{' '}
      {BEFORE[period]}
    </>
  )
}

function successNote({ events, successRate, previous }: Overview): ComponentChildren {
  const failed = `${formatNumber(events.byStatus.failed)} failed`
  const before = previous?.successRate ?? null
  if (successRate === null) return 'No delivery has ended'
  if (before === null || Math.abs(successRate - before) < MIN_POINTS) return failed
  const isWorse = successRate < before
  const points = formatPercent(Math.abs(successRate - before)).replace(' %', ' points')
  return (
    <>
      <span class={`delta ${isWorse ? 'delta-worse' : 'delta-better'}`}>
        {isWorse ? '▼' : '▲'} {points}
      </span>
      , {failed}
    </>
  )
}

/** Success rates are close to 1, so the line begins a little below the lowest. */
function SuccessSpark({ overview: { buckets, events } }: { overview: Overview }) {
  const values = buckets.map(({ successRate }) => successRate)
  const known = values.filter((value) => value !== null)
  const lowest = Math.min(1, ...known)
  return (
    <Sparkline
      values={values}
      min={Math.max(0, lowest - (1 - lowest) - 0.01)}
      isBad={events.byStatus.failed > 0}
    />
  )
}

function latencyFactor({ latencyMs, previous }: Overview): number {
  const before = previous?.latencyMs.p95 ?? null
  return latencyMs.p95 === null || before === null ? 1 : latencyMs.p95 / before
}

function latencyNote(overview: Overview): ComponentChildren {
  const { p95 } = overview.latencyMs
  if (p95 === null) return 'Nothing was delivered'
  const factor = latencyFactor(overview)
  const times = (value: number) => `${value.toFixed(1).replace(/\.0$/, '')} times`
  return (
    <>
      p95 {formatDuration(p95)}
      {factor >= MIN_LATENCY_FACTOR && (
        <>
          , <span class="delta delta-worse">▲ {times(factor)}</span>
        </>
      )}
      {factor <= 1 / MIN_LATENCY_FACTOR && (
        <>
          , <span class="delta delta-better">▼ {times(1 / factor)} faster</span>
        </>
      )}
    </>
  )
}
