/** The usage of the plan, as a part of the overview. */
import { formatNumber } from '../../parts/format.ts'
import { Meter } from '../../parts/meter.tsx'
import type { Resource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { BASE } from '../../router.ts'
import type { Usage } from './api.ts'

const planName = (plan: string) => `${plan.charAt(0).toUpperCase()}${plan.slice(1)} plan`

export function UsagePanel({ usage }: { usage: Resource<Usage> }) {
  const data = usage.data.value
  return (
    <section class="panel" aria-labelledby="usage">
      <div class="panel-head">
        <h2 id="usage">Usage{data && ` in ${monthName(data.periodStart)}`}</h2>
        {data && <p class="push">{planName(data.plan)}</p>}
      </div>
      <Loaded resource={usage} what="the usage">
        {(current) => (
          <div class="panel-body form">
            <EventMeter usage={current} />
            <Meter name="Sources" {...current.sources} />
            <a class="small" href={`${BASE}/usage`}>
              See each day
            </a>
          </div>
        )}
      </Loaded>
    </section>
  )
}

export function EventMeter({ usage }: { usage: Usage }) {
  const { used, limit, isLowerBound } = usage.events
  const expected = expectedEvents(usage)
  return (
    <Meter
      name="Events"
      used={used}
      limit={limit}
      ahead={expected ?? used}
      text={`${isLowerBound ? 'At least ' : ''}${formatNumber(used)} of ${formatNumber(limit)}`}
    >
      {used > limit
        ? usage.events.refusesBeyond
          ? 'The limit is reached. New events are rejected until the next month.'
          : 'The limit is exceeded. Events are still accepted.'
        : expected === undefined
          ? 'Too early in the month to estimate'
          : `At this pace ${formatNumber(expected)} by the end of ${monthName(usage.periodStart)}`}
    </Meter>
  )
}

const DAY_MS = 86_400_000

/** Undefined on the first day, of which the rest of the month cannot be guessed. */
export function expectedEvents({ periodStart, periodEnd, events }: Usage): number | undefined {
  const [start, end] = [Date.parse(periodStart), Date.parse(periodEnd)]
  const passed = Date.now() - start
  if (passed < DAY_MS) return undefined
  const expected = (events.used / passed) * (end - start)
  const digits = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(expected, 1))) - 2)
  return Math.max(events.used, Math.round(expected / digits) * digits)
}

export function monthName(date: string): string {
  return new Intl.DateTimeFormat('en-GB', { month: 'long', timeZone: 'UTC' }).format(
    Date.parse(date),
  )
}
