/** The connections of all sources: failing first, then paused. */
import {
  type ConnectionSummary,
  destinationName,
  fetchItems,
  connectionHealth,
} from '../../api/ferryhook.ts'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { navigate, param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { badges } from '../../shell/sidebar.tsx'

const REFRESH_MS = 10_000
const MAX_CONNECTIONS = 1_000

const FILTERS = [
  [undefined, 'All'],
  ['failing', 'Failing'],
  ['paused', 'Paused'],
  ['active', 'Active'],
] as const

const RANK: Readonly<Record<string, number>> = { failing: 0, paused: 1, active: 2 }

export default function ConnectionsPage() {
  const resource = useResource(fetchAll, { everyMs: REFRESH_MS })
  useKeys([{ keys: 'n', label: 'New connection', run: () => navigate('/connections/new') }])
  const all = resource.data.value?.items ?? []
  const failing = all.filter((each) => connectionHealth(each) === 'failing').length
  return (
    <>
      <Bar
        title="Connections"
        note={all.length > 0 ? formatCount(all.length, 'connection') : undefined}
        actions={
          all.length > 0 ? (
            <a class="button button-primary" href="/console/connections/new">
              <Icon name="plus" />
              <span>New connection</span>
            </a>
          ) : undefined
        }
      />
      <main id="main">
        <Loaded resource={resource} what="connections">
          {({ items, hasMore }) =>
            items.length === 0 ? (
              <NoConnections />
            ) : (
              <>
                <FilterBar failing={failing} />
                <Filtered items={items} />
                {hasMore && (
                  <p class="list-note">Only the first {formatNumber(items.length)} are shown</p>
                )}
              </>
            )
          }
        </Loaded>
      </main>
    </>
  )
}

async function fetchAll(abort: AbortSignal) {
  const found = await fetchItems<ConnectionSummary>('/connections', { max: MAX_CONNECTIONS, abort })
  const failing = found.items.filter((each) => connectionHealth(each) === 'failing').length
  badges.value = {
    ...badges.value,
    '/connections': failing > 0 ? { text: `${failing} failing`, tone: 'bad' } : undefined,
  }
  return { ...found, items: found.items.toSorted(problemsFirst) }
}

function problemsFirst(a: ConnectionSummary, b: ConnectionSummary): number {
  const rank = (each: ConnectionSummary) => RANK[connectionHealth(each)] ?? 3
  return (
    rank(a) - rank(b) || a.sourceName.localeCompare(b.sourceName) || a.name.localeCompare(b.name)
  )
}

function NoConnections() {
  return (
    <div class="page">
      <div class="panel">
        <Empty
          title="No connections yet"
          actions={
            <a class="button button-primary" href="/console/connections/new">
              <Icon name="plus" />
              <span>New connection</span>
            </a>
          }
          command="strongroom connections add 'My repository' https://shop.example.com/hooks"
        >
          A connection delivers the events of a source to an address, with a filter, a transform and
          retries.
        </Empty>
      </div>
    </div>
  )
}

function FilterBar({ failing }: { failing: number }) {
  const status = param('status')
  const source = param('source')
  return (
    <div class="filters">
      <div class="seg" role="group" aria-label="Status">
        {FILTERS.map(([value, label]) => (
          <button
            type="button"
            key={label}
            aria-pressed={status === value}
            onClick={() => setQuery({ status: value })}
          >
            {label}
            {value === 'failing' && failing > 0 && (
              <span class="seg-count">{formatNumber(failing)}</span>
            )}
          </button>
        ))}
      </div>
      {source !== undefined && (
        <button
          class="button button-small"
          type="button"
          onClick={() => setQuery({ source: undefined })}
        >
          <Icon name="close" />
          <span>Of one source</span>
        </button>
      )}
    </div>
  )
}

function Filtered({ items }: { items: readonly ConnectionSummary[] }) {
  const status = param('status')
  const source = param('source')
  const found = items.filter(
    (each) =>
      (status === undefined || connectionHealth(each) === status) &&
      (source === undefined || each.sourceId === source),
  )
  if (found.length === 0) {
    return (
      <Empty
        glyph="none"
        title={
          status === 'failing' ? 'No connection is failing' : `No connection is ${status ?? 'here'}`
        }
        actions={
          <button
            class="button"
            type="button"
            onClick={() => setQuery({ status: undefined, source: undefined })}
          >
            <span>Show all {formatNumber(items.length)}</span>
          </button>
        }
      />
    )
  }
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Status</th>
            <th scope="col">Source</th>
            <th scope="col">Destination</th>
            <th scope="col">Changes events</th>
            <th scope="col" class="right">
              Delivered
            </th>
            <th scope="col" class="right">
              Failed
            </th>
            <th scope="col" class="right">
              Last delivery
            </th>
          </tr>
        </thead>
        <tbody>
          {found.map((each) => (
            <Row connection={each} key={each.id} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ connection }: { connection: ConnectionSummary }) {
  return (
    <tr>
      <td class="card-main">
        <a class="link" href={`/console/connections/${connection.id}/setup`}>
          {connection.name}
        </a>
      </td>
      <td>
        <Health connection={connection} />
      </td>
      <td>
        <a class="soft" href={`/console/sources/${connection.sourceId}`}>
          {connection.sourceName}
        </a>
      </td>
      <td class="mono">{destinationName(connection.destinationUrl)}</td>
      <td class="soft card-none">{changesOf(connection)}</td>
      <td class="right num" data-name="Delivered">
        {formatNumber(connection.deliveryCount)}
      </td>
      <td class="right num" data-name="Failed">
        {formatNumber(connection.failureCount)}
      </td>
      <td class="right" data-name="Last delivery">
        {connection.lastDeliveredAt === null ? (
          <span class="faint">Never</span>
        ) : (
          <RelativeTime time={connection.lastDeliveredAt} />
        )}
      </td>
    </tr>
  )
}

function Health({ connection }: { connection: ConnectionSummary }) {
  const health = connectionHealth(connection)
  if (health !== 'failing' || connection.failingSince === null) {
    const why = connection.statusReason === null ? '' : `, ${connection.statusReason}`
    return (
      <Status status={health} look="quiet">
        {why === '' ? undefined : `Paused${why}`}
      </Status>
    )
  }
  return (
    <span>
      <Status status="failing" />{' '}
      <span class="second">
        {formatCount(connection.failedAttempts, 'attempt')} in{' '}
        <RelativeTime time={connection.failingSince} />
      </span>
    </span>
  )
}

function changesOf({ conditions, transformType }: ConnectionSummary): string {
  const parts = [
    conditions > 0 && formatCount(conditions, 'condition'),
    transformType === 'field_map' && 'field map',
    transformType === 'javascript' && 'JavaScript',
  ]
  return parts.filter(Boolean).join(', ') || '—'
}
