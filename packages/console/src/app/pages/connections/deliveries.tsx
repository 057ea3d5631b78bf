/** The deliveries of a connection with their last attempt, newest event first. */
import { useSignal } from '@preact/signals'
import { type Connection, type ConnectionDelivery, fetchItems } from '../../api/ferryhook.ts'
import { formatDuration } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded, LoadMore } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'

const PAGE_SIZE = 50

export function Deliveries({ connection }: { connection: Connection }) {
  const max = useSignal(PAGE_SIZE)
  const resource = useResource((abort) =>
    fetchItems<ConnectionDelivery>(`/connections/${connection.id}/deliveries`, {
      max: max.value,
      abort,
    }),
  )
  return (
    <Loaded resource={resource} what="deliveries">
      {({ items, hasMore }) =>
        items.length === 0 ? (
          <Empty title="No deliveries yet">
            Events that the source receives from now on are delivered to this connection. Earlier
            ones can be replayed from their page.
          </Empty>
        ) : (
          <>
            <DeliveryTable items={items} />
            {hasMore && <LoadMore onClick={() => (max.value += PAGE_SIZE)} />}
          </>
        )
      }
    </Loaded>
  )
}

function DeliveryTable({ items }: { items: readonly ConnectionDelivery[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">Event</th>
            <th scope="col">State</th>
            <th scope="col">Last response</th>
            <th scope="col" class="right">
              Latency
            </th>
            <th scope="col" class="right">
              Attempts
            </th>
            <th scope="col">Next attempt</th>
            <th scope="col" class="right">
              Received
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <Row delivery={each} key={each.eventId} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ delivery }: { delivery: ConnectionDelivery }) {
  const { lastAttempt } = delivery
  return (
    <tr>
      <td class="card-main">
        <a
          class="link"
          href={`/console/events/${delivery.eventId}?attempt=${delivery.connectionId}`}
        >
          {delivery.eventType ?? <span class="mono">{delivery.eventId}</span>}
        </a>
      </td>
      <td>
        <Status status={delivery.state} look="quiet" />
      </td>
      <td>
        {lastAttempt
          ? lastAttempt.statusCode > 0
            ? lastAttempt.statusCode
            : (lastAttempt.error ?? 'No response')
          : (delivery.reason ?? '—')}
      </td>
      <td class="right num card-none">
        {lastAttempt ? formatDuration(lastAttempt.latencyMs) : ''}
      </td>
      <td class="right num" data-name="Attempts">
        {delivery.attemptsMade}
        {delivery.run > 1 && <span class="faint"> (run {delivery.run})</span>}
      </td>
      <td class="card-none">
        {delivery.nextAttemptAt !== null && (
          <ExactTime time={delivery.nextAttemptAt} withMs={false} />
        )}
      </td>
      <td class="right">
        <RelativeTime time={delivery.receivedAt} />
      </td>
    </tr>
  )
}
