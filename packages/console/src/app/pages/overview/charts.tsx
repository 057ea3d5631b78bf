/** Events by status, with problems on a scale of their own, and delivery latency. */
import { ChartPanel, type ChartSeries, type ChartTimes } from '../../parts/chart.tsx'
import { formatDuration } from '../../parts/format.ts'
import { statusWord } from '../../parts/status.tsx'
import { navigate, param } from '../../router.ts'
import type { Overview, Period } from './api.ts'
import { eventsHref, eventsPath } from './links.ts'

type EventStatus = keyof Overview['events']['byStatus']

const VOLUME: readonly (readonly [EventStatus, color: string, edge?: string])[] = [
  ['delivered', 'ok-area', 'ok-mark'],
  ['processing', 'info-mark'],
  ['received', 'info'],
  ['unrouted', 'field'],
  ['filtered', 'mute-mark'],
]

const PROBLEMS: readonly (readonly [EventStatus, color: string, edge?: string])[] = [
  ['failed', 'bad-mark'],
  ['signature_failed', 'bad-area', 'bad-mark'],
  ['retrying', 'warn-mark'],
  ['held', 'hold-mark'],
]

const BUCKET: Readonly<Record<Period, string>> = {
  '24h': 'One hour',
  '7d': 'Six hours',
  '30d': 'One day',
}

function timesOf({ buckets, bucketSeconds }: Overview): ChartTimes {
  const starts = buckets.map(({ startsAt }) => Date.parse(startsAt))
  return { starts, endsAt: (starts.at(-1) ?? 0) + bucketSeconds * 1000 }
}

export function EventChart({ overview }: { overview: Overview }) {
  const source = param('source')
  const range = { from: overview.from, to: overview.to, source }
  const toSeries = ([status, color, edge]: (typeof VOLUME)[number]): ChartSeries => ({
    name: statusWord(status),
    color,
    ...(edge !== undefined && { edge }),
    values: overview.buckets.map(({ events }) => events.byStatus[status]),
    href: eventsHref(range, { status }),
  })
  const happened = ([status]: (typeof VOLUME)[number]) => overview.events.byStatus[status] > 0
  const problems = PROBLEMS.filter(happened).map(toSeries)
  if (overview.buckets.some(({ refused }) => refused > 0)) {
    const refused = overview.buckets.map((bucket) => bucket.refused)
    problems.push({ name: 'Rejected requests', color: 'mute', values: refused })
  }
  return (
    <ChartPanel
      title="Events by status"
      times={timesOf(overview)}
      frames={[
        {
          kind: 'columns',
          series: VOLUME.filter((each) => each[0] === 'delivered' || happened(each)).map(toSeries),
        },
        ...(problems.length > 0
          ? [
              {
                kind: 'columns' as const,
                title: 'Problems, on their own scale',
                height: 'low' as const,
                series: problems,
              },
            ]
          : []),
      ]}
      note={`${BUCKET[overview.period]} in each column. Choose one to see its events.`}
      onRange={(from, to) => {
        // The events page includes both ends, and the next column begins at the second.
        const [start, end] = [from, to - 1].map((at) => new Date(at).toISOString())
        navigate(eventsPath({ from: start ?? '', to: end ?? '', source }))
      }}
    />
  )
}

export function LatencyChart({ overview }: { overview: Overview }) {
  const { p50, p95 } = overview.latencyMs
  const source = param('source')
  if (p50 === null || p95 === null) {
    return (
      <section class="panel" aria-labelledby="latency">
        <div class="panel-head">
          <h2 id="latency">Delivery latency</h2>
        </div>
        <p class="panel-body soft">Nothing was delivered in this time.</p>
      </section>
    )
  }
  return (
    <ChartPanel
      title="Delivery latency"
      times={timesOf(overview)}
      frames={[
        {
          kind: 'lines',
          unit: 'ms',
          hasBand: true,
          series: [
            {
              name: 'p50',
              color: 'line-a',
              values: overview.buckets.map(({ latencyMs }) => latencyMs.p50),
              total: formatDuration(p50),
            },
            {
              name: 'p95',
              color: 'line-b',
              isDashed: true,
              values: overview.buckets.map(({ latencyMs }) => latencyMs.p95),
              total: formatDuration(p95),
            },
          ],
        },
      ]}
      note="From receipt to delivery, without replays."
      onRange={(from, to) => {
        const [start, end] = [from, to - 1].map((at) => new Date(at).toISOString())
        navigate(eventsPath({ from: start ?? '', to: end ?? '', source }, { status: 'delivered' }))
      }}
    />
  )
}
