/** The sources of the account in the chosen time. */
import { formatNumber, formatPercent } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { BASE } from '../../router.ts'
import type { Overview, Period } from './api.ts'
import { eventsHref } from './links.ts'

type SourceFigures = Overview['sources'][number]

const LAST: Readonly<Record<Period, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

export function SourceTable({ overview }: { overview: Overview }) {
  const sources = overview.sources.toSorted(worstFirst)
  return (
    <section class="panel" aria-labelledby="sources">
      <div class="panel-head">
        <h2 id="sources">Sources</h2>
        <span class="push" />
        <a class="button button-small" href={`${BASE}/sources/new`}>
          <Icon name="plus" />
          <span>New source</span>
        </a>
      </div>
      <div class="table-wrap">
        <table class="table table-cards">
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">{LAST[overview.period]}</th>
              <th scope="col" class="right">
                Events
              </th>
              <th scope="col" class="right">
                Delivered
              </th>
              <th scope="col" class="right">
                Last event
              </th>
            </tr>
          </thead>
          <tbody>
            {sources.map((source) => (
              <Row source={source} overview={overview} key={source.id} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  )
}

function Row({ source, overview }: { source: SourceFigures; overview: Overview }) {
  const { id, name, provider, status, events, lastEventAt } = source
  const range = { from: overview.from, to: overview.to, source: id }
  return (
    <tr>
      <td class="card-main">
        {status === 'deleted' ? (
          <span class="strong">{name}</span>
        ) : (
          <a class="link" href={`${BASE}/sources/${id}`}>
            {name}
          </a>
        )}
        <span class="second"> {status === 'deleted' ? 'deleted' : provider}</span>
        {status === 'paused' && (
          <>
            {' '}
            <Status status="paused" />
          </>
        )}
      </td>
      <td class="card-none">
        <Sparkline values={source.buckets} />
      </td>
      <td class="right" data-name="Events">
        <a class="link" href={eventsHref(range)}>
          {formatNumber(events.total)}
        </a>
      </td>
      <td class="right" data-name="Delivered">
        <Delivered source={source} />
      </td>
      <td class="right soft" data-name="Last">
        {lastEventAt === null ? 'Never' : <RelativeTime time={lastEventAt} suffix=" ago" />}
      </td>
    </tr>
  )
}

/** Below this share something is wrong with a destination. */
const GOOD_SHARE = 0.999

function Delivered({ source: { successRate, events } }: { source: SourceFigures }) {
  if (successRate === null) {
    const isUnrouted = events.total > 0 && events.byStatus.unrouted === events.total
    return <span class="soft">{isUnrouted ? 'Unrouted' : '–'}</span>
  }
  return (
    <span class={successRate < GOOD_SHARE ? 'st-text is-bad strong' : undefined}>
      {formatPercent(successRate)}
    </span>
  )
}

function worstFirst(a: SourceFigures, b: SourceFigures): number {
  const failures = (source: SourceFigures) => source.events.byStatus.failed
  return failures(b) - failures(a) || b.events.total - a.events.total || (a.name < b.name ? -1 : 1)
}
