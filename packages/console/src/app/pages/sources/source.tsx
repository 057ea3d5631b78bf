/** One source: its address, what arrives, where it goes, and what can be done with it. */
import { useSignal } from '@preact/signals'
import {
  type Connection,
  destinationName,
  type EventItem,
  connectionHealth,
  latestEvents,
  type Page,
  type Source,
  V1,
} from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'
import type { PageProps } from '../../pages.ts'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { verificationOf } from './new.tsx'
import { providerOf } from './providers.ts'
import { EditSourceDialog, RotateSecretDialog } from './source-dialogs.tsx'

const REFRESH_MS = 5_000
const SHOWN_EVENTS = 10

interface Found {
  source: Source
  connections: Connection[]
  events: EventItem[]
}

type Open = 'edit' | 'rotate' | 'delete' | undefined

export default function SourcePage({ params }: PageProps) {
  const { id = '' } = params
  const resource = useResource((abort) => fetchAll(id, abort), { everyMs: REFRESH_MS })
  const open = useSignal<Open>(undefined)
  const found = resource.data.value
  const source = found?.source
  const act = async (verb: 'pause' | 'resume') => {
    await request('POST', `${V1}/sources/${id}/${verb}`)
    resource.reload()
  }
  const pause = async () => {
    await act('pause')
    const undo = { label: 'Undo', run: () => void act('resume') }
    showToast({ text: 'Source paused. New events are rejected.', action: undo })
  }
  const remove = async () => {
    await request('DELETE', `${V1}/sources/${id}`)
    showToast({ text: `${source?.name ?? 'Source'} was deleted` })
    navigate('/sources', { force: true })
  }
  const close = () => (open.value = undefined)
  const changed = () => resource.reload()
  return (
    <>
      <Bar
        title={source?.name ?? 'Source'}
        parent={{ label: 'Sources', href: '/console/sources' }}
        note={source && <Status status={source.status} look="badge" />}
        actions={
          source && (
            <>
              <ActionButton
                label={source.status === 'paused' ? 'Resume' : 'Pause'}
                run={() => (source.status === 'paused' ? act('resume') : pause())}
              >
                <Icon name={source.status === 'paused' ? 'play' : 'pause'} />
                <span class="hide-small">{source.status === 'paused' ? 'Resume' : 'Pause'}</span>
              </ActionButton>
              <a
                class="button button-primary"
                href={`/console/connections/new?source=${id}`}
                aria-label="Add connection"
              >
                <Icon name="plus" />
                <span class="hide-small">Add connection</span>
              </a>
            </>
          )
        }
      />
      <main id="main">
        <Loaded resource={resource} what="the source">
          {(data) => (
            <div class="page">
              <Address source={data.source} onOpen={(dialog) => (open.value = dialog)} />
              <Connections source={data.source} connections={data.connections} />
              <RecentEvents source={data.source} events={data.events} reload={changed} />
              <section class="panel" aria-labelledby="h-delete">
                <div class="panel-head">
                  <h2 id="h-delete">Delete this source</h2>
                  <p>Its address then rejects everything. Events stay until they expire.</p>
                  <span class="push" />
                  <button
                    class="button button-danger"
                    type="button"
                    onClick={() => (open.value = 'delete')}
                  >
                    <span>Delete source…</span>
                  </button>
                </div>
              </section>
            </div>
          )}
        </Loaded>
      </main>
      {source && open.value === 'edit' && (
        <EditSourceDialog source={source} onClose={close} onChanged={changed} />
      )}
      {source && open.value === 'rotate' && (
        <RotateSecretDialog source={source} onClose={close} onChanged={changed} />
      )}
      {source && open.value === 'delete' && (
        <ConfirmDialog
          title={`Delete ${source.name}?`}
          confirm="Delete source"
          keep="Keep source"
          typeName={source.name}
          consequences={[
            `${source.url} rejects events from now on`,
            `${formatCount(found.connections.length, 'connection')} of it deleted as well; pending deliveries fail`,
            'Stored events stay readable until they expire',
          ]}
          onConfirm={remove}
          onClose={close}
        />
      )}
    </>
  )
}

async function fetchAll(id: string, abort: AbortSignal): Promise<Found> {
  const [source, connections, events] = await Promise.all([
    request<Source>('GET', `${V1}/sources/${id}`, { signal: abort }),
    request<Page<Connection>>('GET', `${V1}/sources/${id}/connections`, { signal: abort }),
    latestEvents(id, SHOWN_EVENTS, abort),
  ])
  return { source, connections: connections.items, events }
}

function Address({ source, onOpen }: { source: Source; onOpen: (dialog: Open) => void }) {
  const provider = providerOf(source.provider)
  return (
    <section class="panel" aria-labelledby="h-address">
      <div class="panel-head">
        <h2 id="h-address">Address</h2>
        <span class="push" />
        <button class="button button-small" type="button" onClick={() => onOpen('edit')}>
          <span>Rename…</span>
        </button>
        <button class="button button-small" type="button" onClick={() => onOpen('rotate')}>
          <Icon name="key" />
          <span>{source.hasSigningSecret ? 'Rotate secret…' : 'Set secret…'}</span>
        </button>
      </div>
      <div class="panel-body form">
        <div class="field">
          <Command text={source.url} plain />
          {provider && <p class="hint">{provider.where}</p>}
        </div>
        <dl class="facts-row">
          <div>
            <dt>Provider</dt>
            <dd>{provider?.name ?? source.provider}</dd>
          </div>
          <div>
            <dt>Verification</dt>
            <dd>
              {source.verifies ? (
                <Status status="verified">{verificationOf(source)}</Status>
              ) : (
                <Status status="degraded">{verificationOf(source)}</Status>
              )}
            </dd>
          </div>
          <div>
            <dt>Events</dt>
            <dd class="num">
              {formatNumber(source.eventCount)}
              {source.eventCountIsLowerBound && '+'}
            </dd>
          </div>
          <div>
            <dt>Created</dt>
            <dd>
              <ExactTime time={source.createdAt} withMs={false} />
            </dd>
          </div>
          <div>
            <dt>Id</dt>
            <dd>
              <CopyId id={source.id} what="source id" full />
            </dd>
          </div>
        </dl>
      </div>
    </section>
  )
}

function Connections({
  source,
  connections,
}: {
  source: Source
  connections: readonly Connection[]
}) {
  const rank = { failing: 0, paused: 1, active: 2 } as Record<string, number>
  const sorted = connections.toSorted(
    (a, b) =>
      (rank[connectionHealth(a)] ?? 3) - (rank[connectionHealth(b)] ?? 3) ||
      a.name.localeCompare(b.name),
  )
  return (
    <section class="panel" aria-labelledby="h-connections">
      <div class="panel-head">
        <h2 id="h-connections">Connections</h2>
      </div>
      {sorted.length === 0 ? (
        <Empty
          title="Events are stored but not delivered"
          actions={
            <a class="button" href={`/console/connections/new?source=${source.id}`}>
              <span>Add connection</span>
            </a>
          }
        >
          A connection delivers the events of this source to an address.
        </Empty>
      ) : (
        <div class="table-wrap">
          <table class="table table-cards">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Status</th>
                <th scope="col">Destination</th>
                <th scope="col" class="right">
                  Delivered
                </th>
                <th scope="col" class="right">
                  Failed
                </th>
              </tr>
            </thead>
            <tbody>
              {sorted.map((connection) => (
                <tr key={connection.id}>
                  <td class="card-main">
                    <a class="link" href={`/console/connections/${connection.id}/setup`}>
                      {connection.name}
                    </a>
                  </td>
                  <td>
                    <Status status={connectionHealth(connection)} look="quiet" />
                  </td>
                  <td class="mono cut">{destinationName(connection.destinationUrl)}</td>
                  <td class="right num" data-name="Delivered">
                    {formatNumber(connection.deliveryCount)}
                  </td>
                  <td class="right num" data-name="Failed">
                    {formatNumber(connection.failureCount)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function RecentEvents({
  source,
  events,
  reload,
}: {
  source: Source
  events: readonly EventItem[]
  reload: () => void
}) {
  const alone = providerOf(source.provider)?.signsAlone && source.verifies
  const reason =
    source.status === 'paused'
      ? 'The source is paused and rejects events. Resume it first.'
      : alone
        ? 'Only the provider has the key that signs. Send an event from there.'
        : undefined
  const send = async () => {
    await request('POST', `${V1}/sources/${source.id}/test-event`)
    reload()
  }
  return (
    <section class="panel" aria-labelledby="h-events">
      <div class="panel-head">
        <h2 id="h-events">Recent events</h2>
        <a class="small" href={`/console/events?source=${source.id}`}>
          All events
        </a>
        <span class="push" />
        <ActionButton small run={send} notAllowed={reason}>
          <Icon name="send" />
          <span>Send a test event</span>
        </ActionButton>
      </div>
      {events.length === 0 ? (
        <Empty title="No events in the retention of your plan">
          <a href={`/console/sources/new?step=3&source=${source.id}`}>Wait for the first event</a>
        </Empty>
      ) : (
        <div class="table-wrap">
          <table class="table table-cards">
            <thead>
              <tr>
                <th scope="col">Type</th>
                <th scope="col">Status</th>
                <th scope="col" class="right">
                  Received
                </th>
              </tr>
            </thead>
            <tbody>
              {events.map((event) => (
                <tr key={event.id}>
                  <td class="card-main">
                    <a class="link" href={`/console/events/${event.id}`}>
                      {event.type ?? <span class="mono">{event.id}</span>}
                    </a>
                  </td>
                  <td>
                    <Status status={event.status} look="quiet" />
                  </td>
                  <td class="right">
                    <RelativeTime time={event.receivedAt} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}
