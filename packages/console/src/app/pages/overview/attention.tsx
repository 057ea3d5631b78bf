/** Connections that fail or are paused, and events that need somebody. */
import type { ComponentChildren } from 'preact'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { formatCount, formatNumber } from '../../parts/format.ts'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { BASE, param } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import { useSignal } from '@preact/signals'
import type { Overview } from './api.ts'
import { eventsHref } from './links.ts'

type Connection = Overview['connections']['attention'][number]

const PAUSE_REASONS: Readonly<Record<string, string>> = {
  gone: 'The destination responded 410 Gone, so Ferryhook paused it.',
  failing: 'Too many attempts failed, so Ferryhook paused it.',
}

export function Attention({ overview }: { overview: Overview }) {
  const { attention, total, failing, paused } = overview.connections
  const items = [
    ...accountItems(overview),
    ...attention.map((each) => (
      <ConnectionItem connection={each} overview={overview} key={each.id} />
    )),
  ]
  return (
    <section class="panel" aria-labelledby="attention">
      <div class="panel-head">
        <h2 id="attention">Needs attention</h2>
        {total > 0 && (
          <p>
            {failing + paused === 0
              ? formatCount(total, 'connection')
              : `${formatNumber(failing + paused)} of ${formatCount(total, 'connection')}`}
          </p>
        )}
      </div>
      {items.length === 0 ? (
        <p class="panel-body">
          <Status status="done">Nothing needs attention</Status>
        </p>
      ) : (
        <ul class="lines">{items}</ul>
      )}
      {failing + paused > attention.length && (
        <div class="panel-foot">
          <a href={`${BASE}/connections?status=failing`}>See all of them</a>
        </div>
      )}
    </section>
  )
}

function Item(props: {
  name: ComponentChildren
  status: string
  text: ComponentChildren
  actions: ComponentChildren
}) {
  return (
    <li class="line-item">
      <div class="line-text">
        <div class="line-top">
          {props.name}
          <Status status={props.status} />
        </div>
        <p class="soft small">{props.text}</p>
        <div class="line-acts">{props.actions}</div>
      </div>
    </li>
  )
}

function ConnectionItem({ connection, overview }: { connection: Connection; overview: Overview }) {
  const { id, name, status } = connection
  const isPaused = useSignal(status === 'paused')
  const current = isPaused.value ? 'paused' : status === 'paused' ? 'active' : status
  const change = async (verb: 'pause' | 'resume') => {
    await request('POST', `/ferryhook/v1/connections/${id}/${verb}`)
    isPaused.value = verb === 'pause'
    const other = verb === 'pause' ? 'resume' : 'pause'
    showToast({
      text:
        verb === 'pause' ? `${name} is paused. Its events are held.` : `${name} delivers again.`,
      action: { label: 'Undo', run: () => void change(other).catch(() => {}) },
    })
  }
  const toggle = () =>
    change(isPaused.value ? 'resume' : 'pause').catch((error: unknown) =>
      showToast({ text: messageOf(error), tone: 'bad' }),
    )
  const problems = isPaused.value ? 'held' : 'failed,retrying'
  return (
    <Item
      name={
        <a class="line-name cut" href={`${BASE}/connections/${id}`}>
          {name}
        </a>
      }
      status={current}
      text={<Reason connection={connection} isPaused={isPaused.value} />}
      actions={
        <>
          <a
            href={eventsHref(
              { from: overview.from, to: overview.to },
              { status: problems, connection: id },
            )}
          >
            See its events
          </a>
          <a href={`${BASE}/connections/${id}/setup`}>Edit</a>
          <button
            class="link-button"
            type="button"
            aria-label={`${isPaused.value ? 'Resume' : 'Pause'} ${name}`}
            onClick={() => void toggle()}
          >
            {isPaused.value ? 'Resume' : 'Pause'}
          </button>
        </>
      }
    />
  )
}

function Reason({ connection, isPaused }: { connection: Connection; isPaused: boolean }) {
  const { statusReason, failingSince, failedAttempts, circuit, sourceName } = connection
  if (isPaused) {
    return (
      <>
        {statusReason === null
          ? 'Paused by hand.'
          : (PAUSE_REASONS[statusReason] ?? `Paused by Ferryhook: ${statusReason}.`)}{' '}
        Events from {sourceName} are held.
      </>
    )
  }
  return (
    <>
      {formatCount(failedAttempts, 'failed attempt')}
      {failingSince !== null && (
        <>
          {' '}
          in <RelativeTime time={failingSince} />
        </>
      )}
      , from {sourceName}.
      {circuit.nextAttemptAt !== null && circuit.state !== 'closed' && (
        <>
          {' '}
          Deliveries wait for the next attempt at <RelativeTime time={circuit.nextAttemptAt} />.
        </>
      )}
    </>
  )
}

/** Problems of events that belong to no connection. */
function accountItems({ events, refused, from, to }: Overview): ComponentChildren[] {
  const range = { from, to, source: param('source') }
  const unsigned = events.byStatus.signature_failed + refused.unverified
  const items: ComponentChildren[] = []
  if (unsigned > 0) {
    items.push(
      <Item
        key="unsigned"
        name={<span class="strong">Signatures</span>}
        status="signature_failed"
        text={`${formatCount(unsigned, 'event')} could not be verified. Check the signing secret of the source.`}
        actions={<a href={eventsHref(range, { status: 'signature_failed' })}>See these events</a>}
      />,
    )
  }
  const limited = refused.minuteLimit + refused.monthLimit
  if (limited > 0) {
    items.push(
      <Item
        key="limited"
        name={<span class="strong">Limits of the plan</span>}
        status="refused"
        text={`${formatCount(limited, 'event')} were rejected: ${formatNumber(refused.minuteLimit)} by the limit per minute, ${formatNumber(refused.monthLimit)} by the limit per month.`}
        actions={<a href={`${BASE}/usage`}>See the usage</a>}
      />,
    )
  }
  return items
}
