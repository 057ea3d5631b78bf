/** The counts above the list: tabs by status, and the histogram. */
import { request } from '../../api/request.ts'
import { formatNumber } from '../../parts/format.ts'
import { type Resource, useResource } from '../../parts/resource.ts'
import { StatusIcon, statusTone, statusWord } from '../../parts/status.tsx'
import { query, setQuery, withQuery } from '../../router.ts'
import {
  apiQuery,
  type Bucket,
  BUCKET_MS,
  type EventFilter,
  parseFilter,
  PERIODS,
  rangeOf,
  TAB_STATUSES,
} from './filter.ts'
import { Histogram } from './histogram.tsx'

interface Counts {
  byStatus: Record<string, number>
  buckets: { startsAt: string; byStatus: Record<string, number> }[]
  isComplete: boolean
}

export interface EventCounts {
  /** Of the chosen time. */
  chosen: Counts
  /** Of the histogram, which shows what is around the chosen time too. */
  around: Counts
  bucket: Bucket
}

const PROBLEMS = ['failed', 'retrying', 'signature_failed']
const REFRESH_MS = 20_000

export function useCounts(): Resource<EventCounts> {
  return useResource(
    async (signal) => {
      const filter = parseFilter(query.value)
      const now = Date.now()
      const { from, to = now } = rangeOf(filter, now)
      const window = windowOf(filter, from, to, now)
      const count = (start: number, end: number | undefined, bucket: Bucket) =>
        request<Counts>('GET', '/ferryhook/v1/events/counts', {
          query: {
            ...apiQuery(filter, now, { withStatus: false }),
            from: new Date(start).toISOString(),
            to: end === undefined ? undefined : new Date(end).toISOString(),
            bucket,
          },
          signal,
        })
      const around = await count(window.from, window.to, window.bucket)
      const isPart = filter.from !== undefined
      const chosen = isPart ? await count(from, to, window.bucket) : around
      return { chosen, around, bucket: window.bucket }
    },
    { everyMs: REFRESH_MS },
  )
}

/** Three times what is chosen on both sides, but nothing in the future. */
function windowOf(filter: EventFilter, from: number, to: number, now: number) {
  if (filter.from === undefined) return { from, to: undefined, bucket: PERIODS[filter.last].bucket }
  const length = Math.max(60_000, to - from)
  const start = from - 3 * length
  const end = Math.min(now, to + 3 * length)
  const bucket =
    (Object.keys(BUCKET_MS) as Bucket[]).find((name) => (end - start) / BUCKET_MS[name] <= 120) ??
    'day'
  return { from: start, to: end, bucket }
}

export function totalOf({ byStatus }: Counts): number {
  return Object.values(byStatus).reduce((sum, count) => sum + count, 0)
}

export function CountBar({ counts }: { counts: EventCounts | undefined }) {
  const filter = parseFilter(query.value)
  const only = filter.status.length === 1 ? filter.status[0] : undefined
  const tab = (status: string | undefined) => {
    const next = new URLSearchParams(query.value)
    next.delete('event')
    if (status === undefined) next.delete('status')
    else next.set('status', status)
    return `/console${withQuery('/events', next)}`
  }
  const text = (count: number | undefined) => {
    if (count === undefined || !counts) return ''
    return formatNumber(count) + (counts.chosen.isComplete ? '' : '+')
  }
  const now = Date.now()
  const range = rangeOf(filter, now)
  return (
    <>
      <nav class="tabs tabs-bar status-tabs" aria-label="Status">
        <a class="tab" href={tab(undefined)} aria-current={filter.status.length === 0 || undefined}>
          All <span class="count">{text(counts && totalOf(counts.chosen))}</span>
        </a>
        {TAB_STATUSES.map((status) => (
          <a
            class={`tab st-tab is-${statusTone(status)}`}
            href={tab(status)}
            aria-current={only === status || undefined}
            key={status}
          >
            <StatusIcon status={status} />
            <span>{statusWord(status)}</span>
            <span class="count">{text(counts?.chosen.byStatus[status])}</span>
          </a>
        ))}
      </nav>
      {counts && (
        <Histogram
          columns={counts.around.buckets.map(({ startsAt, byStatus }) => ({
            startsAt: Date.parse(startsAt),
            total: Object.values(byStatus).reduce((sum, count) => sum + count, 0),
            problems: PROBLEMS.reduce((sum, status) => sum + (byStatus[status] ?? 0), 0),
          }))}
          bucketMs={BUCKET_MS[counts.bucket]}
          picked={filter.from === undefined ? undefined : { from: range.from, to: range.to ?? now }}
          onPick={(from, to) =>
            setQuery({
              from: new Date(from).toISOString(),
              to: new Date(to).toISOString(),
              last: undefined,
            })
          }
        />
      )}
    </>
  )
}
