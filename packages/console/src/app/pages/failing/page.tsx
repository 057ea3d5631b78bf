/** The failing connections of all accounts, without bodies or secrets. */
import { useSignal } from '@preact/signals'
import type { FailingConnectionView } from '@strongroom/ferryhook/connections/operator-routes'
import { fetchItems } from '../../api/ferryhook.ts'
import { Command, CopyId } from '../../parts/copy.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded, LoadMore } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { Bar } from '../../shell/bar.tsx'

const PAGE_SIZE = 100
const REFRESH_MS = 15_000

export default function FailingPage() {
  const max = useSignal(PAGE_SIZE)
  const resource = useResource(
    (abort) =>
      fetchItems<FailingConnectionView>('/failing-connections', {
        max: max.value,
        as: 'operator',
        abort,
      }),
    { everyMs: REFRESH_MS },
  )
  const count = resource.data.value?.items.length
  return (
    <>
      <Bar
        title="Failing connections"
        note={count ? formatCount(count, 'connection') : undefined}
      />
      <main id="main">
        <Loaded resource={resource} what="failing connections">
          {({ items, hasMore }) => (
            <>
              {items.length === 0 ? (
                <Empty title="No connection fails">
                  Connections of all accounts with failed attempts since their last success, and
                  those that Ferryhook paused, are listed here.
                </Empty>
              ) : (
                <Connections items={items.toSorted(longestFirst)} />
              )}
              {hasMore && <LoadMore onClick={() => (max.value += PAGE_SIZE)} />}
              <div class="page">
                <Command text="strongroom user failing" />
              </div>
            </>
          )}
        </Loaded>
      </main>
    </>
  )
}

function longestFirst(a: FailingConnectionView, b: FailingConnectionView): number {
  if (a.status !== b.status) return a.status === 'failing' ? -1 : 1
  return (a.failingSince ?? '') < (b.failingSince ?? '') ? -1 : 1
}

function Connections({ items }: { items: readonly FailingConnectionView[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">Status</th>
            <th scope="col">Connection</th>
            <th scope="col">Account</th>
            <th scope="col">Destination</th>
            <th scope="col" class="right">
              Failing for
            </th>
            <th scope="col" class="right">
              Attempts
            </th>
            <th scope="col" class="right">
              Last delivery
            </th>
            <th scope="col">Id</th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id}>
              <td>
                <Status status={each.status}>
                  {each.statusReason === null ? undefined : `Paused, ${each.statusReason}`}
                </Status>
              </td>
              <td class="card-main strong">{each.name}</td>
              <td class="card-wide">
                <a class="link" href={`/console/server/accounts/${each.userId}`}>
                  {each.email ?? each.userId}
                </a>
              </td>
              <td class="mono">{each.destinationHost}</td>
              <td class="right" data-name="Failing for">
                {each.failingSince === null ? '—' : <RelativeTime time={each.failingSince} />}
              </td>
              <td class="right num" data-name="Attempts">
                {formatNumber(each.failedAttempts)}
              </td>
              <td class="right" data-name="Last delivery">
                {each.lastDeliveredAt === null ? (
                  <span class="faint">Never</span>
                ) : (
                  <RelativeTime time={each.lastDeliveredAt} />
                )}
              </td>
              <td class="fit card-none">
                <CopyId id={each.id} what="connection id" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
