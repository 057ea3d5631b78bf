/** One event: its deliveries and the request. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { request } from '../../api/request.ts'
import { hasCode } from '../../api/errors.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { copyText, CopyId } from '../../parts/copy.tsx'
import { formatBytes, formatDay, formatDuration, formatExact } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'
import { navigate, setQuery } from '../../router.ts'
import { useKeys } from '../../shell/keyboard.ts'
import { showToast } from '../../shell/toasts.tsx'
import { actOnDelivery, Deliveries, type DeliveryAction } from './deliveries.tsx'
import { toCurl } from './curl.ts'
import { type EventDetail, isOpen, isPending, nameOf } from './event.ts'
import { ReplayDialog } from './replay-dialog.tsx'
import { REQUEST_TABS, RequestView } from './request-view.tsx'

/** While deliveries are pending. */
const REFRESH_MS = 3_000

export function Detail(props: {
  id: string
  onClose?: (() => void) | undefined
  /** Called with each new version, so that the list follows. */
  onLoaded?: (event: EventDetail) => void
  /** With selected events the keys act on those. */
  hasKeys?: boolean
}) {
  const { id, onClose, onLoaded, hasKeys = true } = props
  const event = useResource((signal) =>
    request<EventDetail>('GET', `/ferryhook/v1/events/${id}`, { signal }),
  )
  const data = event.data.value
  useEffect(() => {
    if (data) onLoaded?.(data)
    if (!data || !isOpen(data)) return
    const timer = setTimeout(() => {
      if (document.visibilityState === 'visible') event.reload()
    }, REFRESH_MS)
    return () => clearTimeout(timer)
  }, [data])
  if (hasCode(event.error.value, 'ferryhook.event_not_found'))
    return (
      <Empty
        glyph="none"
        title="Event not found"
        actions={
          <a class="button button-primary" href="/console/events">
            <span>All events</span>
          </a>
        }
      >
        It was deleted or has expired, or the address is wrong.
      </Empty>
    )
  if (data) {
    const reload = () => event.reload()
    return <LoadedDetail event={data} reload={reload} onClose={onClose} hasKeys={hasKeys} />
  }
  return event.error.value === undefined ? (
    <Loading rows={6} />
  ) : (
    <Failed what="the event" resource={event} />
  )
}

function LoadedDetail(props: {
  event: EventDetail
  reload: () => void
  onClose: (() => void) | undefined
  hasKeys: boolean
}) {
  const { event, reload, onClose, hasKeys } = props
  const isReplaying = useSignal(false)
  const pending = event.deliveries.filter(({ state }) => isPending(state))
  const dryRunOn = event.deliveries[0]?.connectionId
  const replay = () => void (isReplaying.value = true)
  const copyCurl = async () => {
    const url = `${location.origin}/in/${event.sourceId}`
    if (await copyText(toCurl(event, url))) showToast({ text: 'Copied as cURL' })
  }
  const openDryRun = () => {
    if (dryRunOn === undefined)
      showToast({ text: 'The event has no connection to try it on', tone: 'warn' })
    else navigate(`/connections/${dryRunOn}/setup?sample=${event.id}`)
  }
  const actOnAll = async (action: DeliveryAction, text: string) => {
    const suitable = pending.filter(({ state }) => state !== 'held')
    if (suitable.length === 0) {
      showToast({ text: 'No delivery of this event is pending', tone: 'warn' })
      return
    }
    const results = await Promise.allSettled(suitable.map((each) => actOnDelivery(action, each)))
    const failed = results.find((each) => each.status === 'rejected')
    reload()
    if (failed) throw failed.reason
    showToast({ text })
  }
  const quietly = (work: Promise<void>) =>
    void work.catch((error: Error) => showToast({ text: error.message, tone: 'bad' }))
  useKeys(
    hasKeys
      ? [
          { keys: 'r', label: 'Replay', run: replay },
          {
            keys: 't',
            label: 'Retry now',
            run: () => quietly(actOnAll('retry', 'Attempting now')),
          },
          { keys: 'h', label: 'Hold', run: () => quietly(actOnAll('hold', 'Held')) },
          { keys: 'c', label: 'Copy as cURL', run: () => void copyCurl() },
          { keys: 'd', label: 'Open in dry run', run: openDryRun },
          ...REQUEST_TABS.map((tab, index) => ({
            keys: String(index + 1),
            label: `Show ${tab}`,
            run: () => setQuery({ tab: tab === 'body' ? undefined : tab }, { replace: true }),
          })),
        ]
      : [],
    [event, hasKeys],
  )
  return (
    <>
      <div class="detail-head">
        <div class="detail-title">
          {onClose && (
            <button
              class="button button-quiet button-icon detail-back"
              type="button"
              aria-label="Back to events"
              onClick={onClose}
            >
              <Icon name="arrow-left" />
            </button>
          )}
          <h2 class="cut">
            <bdi>{nameOf(event)}</bdi>
          </h2>
          <span aria-live="polite">
            <Status status={event.status} look="badge" />
          </span>
          <span class="detail-actions push">
            <button class="button button-primary" type="button" onClick={replay}>
              <Icon name="replay" />
              <span>Replay…</span>
              <kbd>R</kbd>
            </button>
            <IconButton icon="terminal" label="Copy as cURL (c)" run={() => void copyCurl()} />
            <IconButton icon="flask" label="Open in dry run (d)" run={openDryRun} />
            {onClose && (
              <>
                <a
                  class="button button-icon button-plain"
                  href={`/console/events/${event.id}`}
                  aria-label="Open full width"
                  title="Open full width"
                >
                  <Icon name="open" />
                </a>
                <IconButton icon="close" label="Close (Esc)" run={onClose} />
              </>
            )}
          </span>
        </div>
        <div class="detail-sub">
          <CopyId id={event.id} full />
          <a href={`/console/sources/${event.sourceId}`}>
            <bdi>{event.sourceName}</bdi>
          </a>
          <span>
            <ExactTime time={event.receivedAt} />,{' '}
            <RelativeTime time={event.receivedAt} suffix=" ago" />
          </span>
        </div>
      </div>
      <div class="pane-scroll" tabIndex={0} role="region" aria-label="Details of the event">
        <Deliveries event={event} reload={reload} />
        <RequestView event={event} key={event.id} />
        <Facts event={event} />
      </div>
      <div class="thumb-bar">
        {pending.length > 0 && (
          <ActionButton look="primary" run={() => actOnAll('retry', 'Attempting now')}>
            <Icon name="send" />
            <span>Retry now</span>
          </ActionButton>
        )}
        <button
          class={pending.length > 0 ? 'button' : 'button button-primary'}
          type="button"
          onClick={replay}
        >
          <Icon name="replay" />
          <span>Replay…</span>
        </button>
        <IconButton icon="terminal" label="Copy as cURL" run={() => void copyCurl()} />
        <IconButton icon="flask" label="Open in dry run" run={openDryRun} />
      </div>
      {isReplaying.value && (
        <ReplayDialog
          event={event}
          onClose={() => (isReplaying.value = false)}
          onReplayed={reload}
        />
      )}
    </>
  )
}

function IconButton(props: {
  icon: 'terminal' | 'flask' | 'close'
  label: string
  run: () => void
}) {
  return (
    <button
      class="button button-icon button-plain"
      type="button"
      aria-label={props.label}
      title={props.label}
      onClick={props.run}
    >
      <Icon name={props.icon} />
    </button>
  )
}

function Facts({ event }: { event: EventDetail }) {
  const received = Date.parse(event.receivedAt)
  return (
    <section class="detail-part" aria-label="Facts">
      <dl class="facts">
        <dt>Received</dt>
        <dd>{formatExact(received)}</dd>
        {event.processedAt !== null && (
          <>
            <dt>Routed after</dt>
            <dd>{formatDuration(Math.max(0, Date.parse(event.processedAt) - received))}</dd>
          </>
        )}
        <dt>Sent from</dt>
        <dd class="mono">{event.sourceIp}</dd>
        <dt>Size</dt>
        <dd>{formatBytes(event.bodyBytes)}</dd>
        <dt>Kept until</dt>
        <dd>{formatDay(Date.parse(event.expiresAt))}</dd>
      </dl>
    </section>
  )
}
