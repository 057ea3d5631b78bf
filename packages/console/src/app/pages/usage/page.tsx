/** The usage of the plan in this month, by day. */
import { Fragment } from 'preact'
import { ChartPanel } from '../../parts/chart.tsx'
import { formatNumber } from '../../parts/format.ts'
import { Meter } from '../../parts/meter.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { getUsage, type Usage } from '../overview/api.ts'
import { eventsPath } from '../overview/links.ts'
import { EventMeter, expectedEvents, monthName } from '../overview/usage-panel.tsx'

const REFRESH_MS = 60_000
const DAY_MS = 86_400_000

export default function UsagePage() {
  const usage = useResource(getUsage, { everyMs: REFRESH_MS })
  const plan = usage.data.value?.plan
  return (
    <>
      <Bar title="Usage" note={plan && `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`} />
      <main id="main">
        <Loaded resource={usage} what="the usage">
          {(data) => <Content usage={data} />}
        </Loaded>
      </main>
    </>
  )
}

function Content({ usage }: { usage: Usage }) {
  const { used, limit, remaining, refusesBeyond } = usage.events
  const expected = expectedEvents(usage)
  const isTight = used <= limit && expected !== undefined && expected > limit
  const starts = usage.days.map(({ date }) => Date.parse(date))
  return (
    <div class="page">
      {(used > limit || isTight) && (
        <p class={used > limit ? 'note note-bad' : 'note note-warn'} role="status">
          {used > limit
            ? `The limit of ${formatNumber(limit)} events is exceeded.`
            : `At this pace the limit of ${formatNumber(limit)} events is reached before the end of the month.`}{' '}
          {refusesBeyond
            ? 'Events over the limit are rejected.'
            : 'Events over the limit are accepted and marked.'}
        </p>
      )}
      <div class="cols cols-wide">
        <ChartPanel
          title={`Events by day in ${monthName(usage.periodStart)}`}
          times={{ starts, endsAt: (starts.at(-1) ?? 0) + DAY_MS }}
          frames={[
            {
              kind: 'columns',
              height: 'tall',
              series: [
                {
                  name: 'Events',
                  color: 'ok-area',
                  edge: 'ok-mark',
                  values: usage.days.map(({ events }) => events),
                },
              ],
            },
          ]}
          note={
            usage.isDailyComplete
              ? 'Days in UTC, without events whose signature failed.'
              : 'There are too many new events to count now. The last days are lower bounds.'
          }
          onRange={(from, to) => {
            const [start, end] = [from, to - 1].map((at) => new Date(at).toISOString())
            navigate(eventsPath({ from: start ?? '', to: end ?? '' }))
          }}
        />
        <section class="panel" aria-labelledby="limits">
          <div class="panel-head">
            <h2 id="limits">Limits of the plan</h2>
          </div>
          <div class="panel-body form">
            <EventMeter usage={usage} />
            <Meter name="Sources" {...usage.sources} />
            <dl class="facts">
              {[
                ['Events left this month', formatNumber(remaining)],
                ['Connections per source', formatNumber(usage.connectionsPerSource)],
                ['Events per minute and source', formatNumber(usage.eventsPerMinute)],
                ['Beyond the monthly limit', refusesBeyond ? 'Rejected' : 'Accepted and marked'],
                ['Next period begins', `${usage.periodEnd} UTC`],
              ].map(([name, value]) => (
                <Fragment key={name}>
                  <dt>{name}</dt>
                  <dd class="num">{value}</dd>
                </Fragment>
              ))}
            </dl>
          </div>
        </section>
      </div>
    </div>
  )
}
