/** One connection: setup with dry run, deliveries, signing secret, history. */
import { useSignal } from '@preact/signals'
import {
  type Connection,
  destinationName,
  connectionHealth,
  type Source,
  V1,
} from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import type { PageProps } from '../../pages.ts'
import { navigate, query, withQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { Deliveries } from './deliveries.tsx'
import { History } from './history.tsx'
import { Secret } from './secret.tsx'
import { Setup } from './setup.tsx'

const TABS = [
  ['setup', 'Setup'],
  ['deliveries', 'Deliveries'],
  ['secret', 'Signing secret'],
  ['history', 'History'],
] as const

interface Found {
  connection: Connection
  source: Source
}

export default function ConnectionPage({ params }: PageProps) {
  const { id = '' } = params
  return <ConnectionOf id={id} tab={params['tab'] ?? 'setup'} key={id} />
}

function ConnectionOf({ id, tab }: { id: string; tab: string }) {
  const resource = useResource((abort) => fetchAll(id, abort))
  const isDeleting = useSignal(false)
  const found = resource.data.value
  const connection = found?.connection
  const setConnection = (changed: Connection) => {
    if (found) resource.set({ ...found, connection: changed })
  }
  const act = async (verb: 'pause' | 'resume') =>
    setConnection(await request<Connection>('POST', `${V1}/connections/${id}/${verb}`))
  const pause = async () => {
    await act('pause')
    showToast({
      text: 'Connection paused. Its deliveries are held for up to 30 days.',
      action: { label: 'Undo', run: () => void act('resume') },
    })
  }
  const remove = async () => {
    await request('DELETE', `${V1}/connections/${id}`)
    showToast({ text: `${connection?.name ?? 'Connection'} was deleted` })
    navigate('/connections', { force: true })
  }
  const isPaused = connection?.status === 'paused'
  return (
    <>
      <Bar
        title={connection?.name ?? 'Connection'}
        parent={{ label: 'Connections', href: '/console/connections' }}
        note={connection && <HealthNote connection={connection} />}
        actions={
          connection && (
            <>
              <ActionButton
                label={isPaused ? 'Resume' : 'Pause'}
                run={() => (isPaused ? act('resume') : pause())}
              >
                <Icon name={isPaused ? 'play' : 'pause'} />
                <span class="hide-small">{isPaused ? 'Resume' : 'Pause'}</span>
              </ActionButton>
              <button
                class="button button-icon button-danger"
                type="button"
                aria-label="Delete…"
                title="Delete…"
                onClick={() => (isDeleting.value = true)}
              >
                <Icon name="close" />
              </button>
            </>
          )
        }
      />
      <main id="main" class={tab === 'setup' ? 'connection-main' : undefined}>
        <Loaded resource={resource} what="the connection">
          {(data) => (
            <>
              <Tabs found={data} tab={tab} />
              {tab === 'deliveries' ? (
                <Deliveries connection={data.connection} />
              ) : tab === 'secret' ? (
                <Secret connection={data.connection} />
              ) : tab === 'history' ? (
                <History connection={data.connection} />
              ) : (
                <Setup saved={data.connection} onSaved={setConnection} />
              )}
            </>
          )}
        </Loaded>
      </main>
      {connection && isDeleting.value && (
        <ConfirmDialog
          title={`Delete ${connection.name}?`}
          confirm="Delete connection"
          keep="Keep connection"
          consequences={[
            `Events of ${found.source.name} are no longer delivered to ${destinationName(connection.destinationUrl)}`,
            'Deliveries that are pending or held fail',
            'The history stays readable until it expires',
          ]}
          typeName={connection.name}
          onConfirm={remove}
          onClose={() => (isDeleting.value = false)}
        />
      )}
    </>
  )
}

async function fetchAll(id: string, signal: AbortSignal): Promise<Found> {
  const connection = await request<Connection>('GET', `${V1}/connections/${id}`, { signal })
  const source = await request<Source>('GET', `${V1}/sources/${connection.sourceId}`, { signal })
  return { connection, source }
}

function HealthNote({ connection }: { connection: Connection }) {
  const health = connectionHealth(connection)
  return (
    <span class="health-note">
      <Status status={health} look="badge" />
      {health === 'failing' && connection.failingSince !== null && (
        <span class="hide-small">
          {formatCount(connection.failedAttempts, 'failed attempt')} in{' '}
          <RelativeTime time={connection.failingSince} />,{' '}
          <a href={`/console/events?connection=${connection.id}&status=failed,retrying`}>events</a>
        </span>
      )}
      {connection.statusReason !== null && (
        <span class="hide-small">by Ferryhook: {connection.statusReason}</span>
      )}
    </span>
  )
}

function Tabs({ found: { connection, source }, tab }: { found: Found; tab: string }) {
  const sample = query.value.get('sample')
  const to = (name: string) =>
    withQuery(
      `/console/connections/${connection.id}/${name}`,
      new URLSearchParams(sample === null ? {} : { sample }),
    )
  const ended = connection.deliveryCount + connection.failureCount
  return (
    <nav class="tabs tabs-bar" aria-label="Connection">
      {TABS.map(([name, label]) => (
        <a class="tab" href={to(name)} aria-current={tab === name ? 'page' : undefined} key={name}>
          {label}
          {name === 'deliveries' && ended > 0 && <span class="count">{formatNumber(ended)}</span>}
        </a>
      ))}
      <span class="tabs-end hide-small small soft">
        <span class="route">
          <a class="soft" href={`/console/sources/${source.id}`}>
            {source.name}
          </a>
          <Icon name="arrow-right" />
          {destinationName(connection.destinationUrl)}
        </span>
      </span>
    </nav>
  )
}
