/** All sources: what is paused or fails first, then the latest events first. */
import { fetchItems, type ConnectionSummary, type ListedSource, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { CopyId } from '../../parts/copy.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Sparkline } from '../../parts/sparkline.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { providerOf } from './providers.ts'

const REFRESH_MS = 10_000
const MAX_FAILING = 500

interface Row {
  source: ListedSource
  failing: number
}

export default function SourcesPage() {
  const resource = useResource(fetchRows, { everyMs: REFRESH_MS })
  useKeys([{ keys: 'n', label: 'New source', run: () => navigate('/sources/new') }])
  const count = resource.data.value?.length
  return (
    <>
      <Bar
        title="Sources"
        note={count ? formatCount(count, 'source') : undefined}
        actions={
          count ? (
            <a class="button button-primary" href="/console/sources/new">
              <Icon name="plus" />
              <span>New source</span>
            </a>
          ) : undefined
        }
      />
      <main id="main">
        <Loaded resource={resource} what="sources">
          {(rows) => (rows.length === 0 ? <NoSources /> : <SourceTable rows={rows} />)}
        </Loaded>
      </main>
    </>
  )
}

async function fetchRows(abort: AbortSignal): Promise<Row[]> {
  const [sources, failing] = await Promise.all([
    request<{ items: ListedSource[] }>('GET', `${V1}/sources`, {
      query: { activity: 'true' },
      signal: abort,
    }),
    fetchItems<ConnectionSummary>('/connections', {
      max: MAX_FAILING,
      query: { status: 'failing' },
      abort,
    }),
  ])
  const bySource = Map.groupBy(failing.items, ({ sourceId }) => sourceId)
  return sources.items
    .map((source) => ({ source, failing: bySource.get(source.id)?.length ?? 0 }))
    .toSorted(problemsFirst)
}

function problemsFirst(a: Row, b: Row): number {
  const rank = ({ source, failing }: Row) => (failing > 0 ? 0 : source.status === 'paused' ? 1 : 2)
  const latest = ({ source }: Row) => source.lastEventAt ?? ''
  return rank(a) - rank(b) || (latest(a) < latest(b) ? 1 : latest(a) > latest(b) ? -1 : 0)
}

function NoSources() {
  return (
    <div class="page">
      <div class="panel">
        <Empty
          title="No sources yet"
          actions={
            <a class="button button-primary" href="/console/sources/new">
              <Icon name="plus" />
              <span>New source</span>
            </a>
          }
          command="strongroom sources add 'My repository' --provider github"
        >
          A source gives you an address for a provider such as Stripe or GitHub. Every event that it
          receives is stored and delivered to the destinations you connect.
        </Empty>
      </div>
    </div>
  )
}

function SourceTable({ rows }: { rows: readonly Row[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Provider</th>
            <th scope="col" class="right">
              Events
            </th>
            <th scope="col">Last 24 hours</th>
            <th scope="col" class="right">
              Last event
            </th>
            <th scope="col">Id</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <SourceRow row={row} key={row.source.id} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function SourceRow({ row: { source, failing } }: { row: Row }) {
  const hours = source.activity?.events ?? []
  const inDay = hours.reduce((sum, events) => sum + events, 0)
  return (
    <tr>
      <td class="card-wide">
        <a class="link" href={`/console/sources/${source.id}`}>
          {source.name}
        </a>
      </td>
      <td>
        {failing > 0 ? (
          <a href={`/console/connections?status=failing&source=${source.id}`}>
            <Status status="failing">{`${formatCount(failing, 'connection')} failing`}</Status>
          </a>
        ) : (
          <Status status={source.status} look="quiet" />
        )}
      </td>
      <td>
        {providerOf(source.provider)?.name ?? source.provider}
        {!source.verifies && <span class="second"> not verified</span>}
      </td>
      <td class="right num" data-name="Events">
        {formatNumber(source.eventCount)}
        {source.eventCountIsLowerBound && '+'}
      </td>
      <td class="card-none">
        {inDay > 0 ? (
          <span
            class="spark-cell"
            title={`${formatCount(inDay, 'event')} in the last 24 full hours`}
          >
            <Sparkline values={hours} />
            <span class="unseen">{formatCount(inDay, 'event')} in the last 24 full hours</span>
          </span>
        ) : (
          <span class="faint">—</span>
        )}
      </td>
      <td class="right" data-name="Last event">
        {source.lastEventAt === null ? (
          <span class="faint">Never</span>
        ) : (
          <RelativeTime time={source.lastEventAt} />
        )}
      </td>
      <td class="fit card-none">
        <CopyId id={source.id} what="source id" />
      </td>
    </tr>
  )
}
