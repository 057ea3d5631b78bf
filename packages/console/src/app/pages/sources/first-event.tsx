/** Step 3: the address, the first event as it arrives, and its delivery to the test destination. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { z } from 'zod'
import type { TestRequestView } from '@strongroom/ferryhook/test-requests/view'
import {
  type Connection,
  type EventItem,
  latestEvents,
  type Page,
  type Source,
  V1,
} from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command } from '../../parts/copy.tsx'
import { formatBytes, formatDuration, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { type Resource, useResource } from '../../parts/resource.ts'
import { Status } from '../../parts/status.tsx'
import { providerOf } from './providers.ts'

type TestRequest = z.infer<typeof TestRequestView>

const POLL_MS = 1_000

interface Arrival {
  event: EventItem | undefined
  connections: Connection[]
  delivered: TestRequest | undefined
}

export function FirstEvent({ source }: { source: Source }) {
  const startedAt = useMemo(() => Date.now(), [])
  const resource = useResource((abort) => fetchArrival(source.id, abort), { everyMs: POLL_MS })
  const found = resource.data.value
  const provider = providerOf(source.provider)
  return (
    <>
      <div class="panel wiz-panel">
        <div class="panel-body form">
          <div class="field">
            <span class="label">Give this address to {providerName(source)}</span>
            <Command text={source.url} plain />
            {provider && <p class="hint">{provider.where}</p>}
          </div>
        </div>
        {found?.event ? (
          <Arrived source={source} event={found.event} found={found} resource={resource} />
        ) : (
          <Waiting source={source} startedAt={startedAt} resource={resource} />
        )}
      </div>
      {!found?.event && <FromTerminal source={source} />}
    </>
  )
}

const providerName = (source: Source) =>
  source.provider === 'custom' ? 'the sender' : (providerOf(source.provider)?.name ?? 'the sender')

async function fetchArrival(sourceId: string, abort: AbortSignal): Promise<Arrival> {
  const [events, { items: connections }] = await Promise.all([
    latestEvents(sourceId, 1, abort),
    request<Page<Connection>>('GET', `${V1}/sources/${sourceId}/connections`, { signal: abort }),
  ])
  const test = connections.find(({ destinationUrl }) => destinationUrl.startsWith('test:'))
  const requests = test
    ? await request<Page<TestRequest>>('GET', `${V1}/connections/${test.id}/test-requests`, {
        signal: abort,
      })
    : undefined
  return { event: events[0], connections, delivered: requests?.items[0] }
}

function Waiting({
  source,
  startedAt,
  resource,
}: {
  source: Source
  startedAt: number
  resource: Resource<Arrival>
}) {
  const alone = providerOf(source.provider)?.signsAlone && source.verifies
  const reason = alone
    ? `${providerName(source)} signs with a key that only it has. Send an event from there.`
    : undefined
  const send = async () => {
    await request('POST', `${V1}/sources/${source.id}/test-event`)
    resource.reload()
  }
  return (
    <div class="waiting">
      <span class="spin" />
      <div role="status">
        <p class="strong">Waiting for the first event</p>
        <p class="small faint">It appears here as soon as it arrives.</p>
      </div>
      <span class="small faint num" aria-hidden="true">
        {formatDuration(Math.max(0, Math.floor((now.value - startedAt) / 1000) * 1000))}
      </span>
      <span class="push" />
      <ActionButton look="primary" run={send} notAllowed={reason}>
        <Icon name="send" />
        <span>Send a test event</span>
      </ActionButton>
    </div>
  )
}

function FromTerminal({ source }: { source: Source }) {
  const command = `curl -X POST ${source.url} -H 'content-type: application/json' --data '{"type":"test"}'`
  return (
    <div class="wiz-try">
      <p class="label">Or send one from a terminal</p>
      <Command text={command} />
      {source.verifies && (
        <p class="hint">
          It is not signed, so it arrives as “Signature failed”. The test event above is signed with
          the secret of this source.
        </p>
      )}
    </div>
  )
}

function Arrived(props: {
  source: Source
  event: EventItem
  found: Arrival
  resource: Resource<Arrival>
}) {
  const { source, event, found, resource } = props
  const isRefused = event.status === 'signature_failed'
  return (
    <>
      <div class="arrived" role="status">
        <div class="arrived-body">
          {isRefused ? (
            <Status status="signature_failed" look="badge" />
          ) : (
            <Status status="done" look="badge">
              First event arrived
            </Status>
          )}
          <div>
            <p class="strong cut">{event.type ?? 'Event without a type'}</p>
            <p class="small soft">
              {isRefused
                ? 'The signature does not match the secret of this source.'
                : source.verifies
                  ? 'Signature verified'
                  : 'Not verified'}
              , {formatBytes(event.bodyBytes)}, from {event.sourceIp}
            </p>
          </div>
          <span class="push" />
          <a class="button" href={`/console/events/${event.id}`}>
            <span>Look at it</span>
          </a>
        </div>
      </div>
      <FirstConnection source={source} event={event} found={found} resource={resource} />
    </>
  )
}

/** Exactly one next thing to do, depending on what exists already. */
function FirstConnection(props: {
  source: Source
  event: EventItem
  found: Arrival
  resource: Resource<Arrival>
}) {
  const { source, event, found, resource } = props
  const [connection] = found.connections
  const isWaiting = useSignal(false)
  const addTest = async () => {
    const json = { name: 'Test destination', destinationUrl: 'test:200' }
    const path = `${V1}/sources/${source.id}/connections`
    const made = await request<Connection>('POST', path, { json })
    isWaiting.value = true
    if (event.status === 'signature_failed') {
      await request('POST', `${V1}/sources/${source.id}/test-event`)
    } else {
      const replay = { connectionIds: [made.id] }
      await request('POST', `${V1}/events/${event.id}/replay`, { json: replay })
    }
    resource.reload()
  }
  if (found.delivered && connection) {
    return (
      <div class="arrived-body arrived-next" role="status">
        <Status status="delivered" look="badge" />
        <div>
          <p class="strong">The test destination received it</p>
          <p class="small soft">
            {found.delivered.method}, {formatBytes(found.delivered.bodyBytes)}, response{' '}
            {found.delivered.statusCode}
          </p>
        </div>
        <span class="push" />
        <a
          class="button button-primary"
          href={`/console/connections/${connection.id}/setup?sample=${event.id}`}
        >
          <span>Set up the connection</span>
        </a>
      </div>
    )
  }
  if (connection) {
    return (
      <div class="arrived-body arrived-next">
        {isWaiting.value && <span class="spin" />}
        <p class="strong">
          {isWaiting.value ? 'Delivering it to the test destination' : connection.name}
        </p>
        <span class="push" />
        <a class="button button-primary" href={`/console/connections/${connection.id}/setup`}>
          <span>Open the connection</span>
        </a>
      </div>
    )
  }
  return (
    <div class="arrived-body arrived-next">
      <div>
        <p class="strong">See it delivered</p>
        <p class="small soft">
          The built-in test destination accepts every event and shows what it received. You can
          enter your own address later.
        </p>
      </div>
      <span class="push" />
      <div class="buttons">
        <a class="button" href={`/console/connections/new?source=${source.id}`}>
          <span>Connect my own address</span>
        </a>
        <ActionButton look="primary" run={addTest}>
          <span>Deliver it to the test destination</span>
        </ActionButton>
      </div>
    </div>
  )
}
