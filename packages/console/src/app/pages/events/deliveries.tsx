/** The deliveries of an event, each with its attempts as a timeline. */
import { useSignal } from '@preact/signals'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatDuration, formatExact, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { Status, ToneIcon } from '../../parts/status.tsx'
import { param, setQuery } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import { AttemptView } from './attempt-view.tsx'
import { type Attempt, type Delivery, type EventDetail, isPending } from './event.ts'

/** A destination has this long to respond. */
const TIMEOUT_MS = 10_000

export type DeliveryAction = 'retry' | 'hold' | 'release' | 'cancel'

export function actOnDelivery(
  action: DeliveryAction,
  { eventId, connectionId }: Pick<Delivery, 'eventId' | 'connectionId'>,
): Promise<unknown> {
  return request('POST', `/ferryhook/v1/events/${eventId}/deliveries/${connectionId}/${action}`)
}

export function Deliveries({ event, reload }: { event: EventDetail; reload: () => void }) {
  const { deliveries } = event
  const done = deliveries.filter(({ state }) => state === 'delivered').length
  return (
    <section class="detail-part" aria-label="Deliveries">
      <div class="part-head">
        <h3>Deliveries</h3>
        <span class="faint small">
          {deliveries.length === 0
            ? noDeliveries(event)
            : `${done} of ${deliveries.length} delivered`}
        </span>
      </div>
      {deliveries.toSorted(problemsFirst).map((delivery) => (
        <DeliveryCard
          event={event}
          delivery={delivery}
          attempts={event.attempts.filter((each) => each.connectionId === delivery.connectionId)}
          reload={reload}
          key={delivery.connectionId}
        />
      ))}
    </section>
  )
}

function noDeliveries({ status, reason }: EventDetail): string {
  if (status === 'signature_failed') return 'None: the signature is not valid'
  if (status === 'unrouted') return 'None: the source has no connection'
  return reason ?? 'Not routed yet'
}

const ORDER = ['failed', 'retrying', 'held', 'runnable', 'delivered', 'filtered']

function problemsFirst(a: Delivery, b: Delivery): number {
  return ORDER.indexOf(a.state) - ORDER.indexOf(b.state)
}

function DeliveryCard(props: {
  event: EventDetail
  delivery: Delivery
  attempts: readonly Attempt[]
  reload: () => void
}) {
  const { event, delivery, attempts, reload } = props
  const { connectionId, state } = delivery
  const isQuiet = state === 'delivered' || state === 'filtered'
  const isShown = useSignal(!isQuiet)
  const isCancelling = useSignal(false)
  const last = attempts.at(-1)
  const name = delivery.connectionName ?? connectionId
  const act = (action: DeliveryAction, text: string, undo?: DeliveryAction) => async () => {
    await actOnDelivery(action, delivery)
    showToast({
      text,
      ...(undo && {
        action: {
          label: 'Undo',
          run: () => void actOnDelivery(undo, delivery).then(reload, reload),
        },
      }),
    })
    reload()
  }
  return (
    <div class="delivery">
      <div class="delivery-head">
        <span title={state}>
          <Status status={state}>
            <span class="unseen">{state}</span>
          </Status>
        </span>
        <span class="delivery-name">
          <b class="cut">
            <bdi>{name}</bdi>
          </b>
          <span class="cut small faint mono">
            {(last?.destinationUrl ?? delivery.reason ?? '').replace(/^https?:\/\//, '')}
          </span>
        </span>
        <span class="delivery-actions small">
          {isPending(state) && state !== 'held' && (
            <>
              <ActionButton small run={act('retry', 'Attempting now')}>
                <span>Retry now</span>
              </ActionButton>
              <ActionButton small run={act('hold', `Held ${name}`, 'release')}>
                <span>Hold</span>
              </ActionButton>
            </>
          )}
          {state === 'held' && (
            <ActionButton small run={act('release', 'Released')}>
              <span>Release</span>
            </ActionButton>
          )}
          {isPending(state) && (
            <ActionButton small look="danger" run={() => void (isCancelling.value = true)}>
              <span>Cancel</span>
            </ActionButton>
          )}
          {isQuiet && last && (
            <>
              <span class={`code-answer is-${state === 'delivered' ? 'ok' : 'bad'}`}>
                {last.statusCode || ''}
              </span>
              <span class="soft num">{formatDuration(last.latencyMs)}</span>
            </>
          )}
          {isQuiet && attempts.length > 0 && (
            <button
              class="button button-quiet button-small button-icon"
              type="button"
              aria-label={`Attempts to ${name}`}
              aria-expanded={isShown.value}
              onClick={() => (isShown.value = !isShown.value)}
            >
              <Icon name={isShown.value ? 'down' : 'right'} />
            </button>
          )}
        </span>
      </div>
      {isShown.value && (attempts.length > 0 || delivery.nextAttemptAt !== null) && (
        <Attempts eventId={event.id} delivery={delivery} attempts={attempts} />
      )}
      {isCancelling.value && (
        <ConfirmDialog
          title={`Cancel the delivery to ${name}`}
          confirm="Cancel delivery"
          keep="Keep trying"
          consequences={[
            'It is not attempted again and counts as failed.',
            'A replay can deliver the event later.',
          ]}
          onConfirm={act('cancel', 'Cancelled the delivery')}
          onClose={() => (isCancelling.value = false)}
        />
      )}
    </div>
  )
}

function Attempts(props: { eventId: string; delivery: Delivery; attempts: readonly Attempt[] }) {
  const { delivery, attempts } = props
  const chosen = param('attempt')
  const keyOf = ({ connectionId, number, run }: Attempt) =>
    `${connectionId}:${number}${run === delivery.run ? '' : `:${run}`}`
  const shown = attempts.find((attempt) => keyOf(attempt) === chosen)
  return (
    <div class="attempts">
      <ol>
        {attempts.map((attempt) => {
          const key = keyOf(attempt)
          const isGood = attempt.statusCode >= 200 && attempt.statusCode < 300
          return (
            <li key={`${attempt.run}:${attempt.number}`}>
              <button
                class="attempt"
                type="button"
                aria-pressed={chosen === key}
                onClick={() => setQuery({ attempt: chosen === key ? undefined : key })}
              >
                <span class={`attempt-mark is-${isGood ? 'ok' : 'bad'}`}>
                  <ToneIcon shape={isGood ? 'check' : 'cross'} tone={isGood ? 'ok' : 'bad'} />
                </span>
                <span class="faint">{attempt.number}</span>
                <time title={formatExact(Date.parse(attempt.attemptedAt))}>
                  {formatExact(Date.parse(attempt.attemptedAt), { withMs: false, withZone: false })}
                </time>
                <span class="attempt-answer">
                  {attempt.statusCode > 0 ? (
                    <span class={`code-answer is-${isGood ? 'ok' : 'bad'}`}>
                      {attempt.statusCode}
                    </span>
                  ) : (
                    <span class="cut is-bad st-text">{attempt.error ?? 'No response'}</span>
                  )}
                  {attempt.run > 1 && <span class="cut soft">replay</span>}
                </span>
                <LatencyBar ms={attempt.latencyMs} isGood={isGood} />
                <span class="right">{formatDuration(attempt.latencyMs)}</span>
              </button>
            </li>
          )
        })}
        {isPending(delivery.state) && delivery.nextAttemptAt !== null && (
          <NextAttempt at={Date.parse(delivery.nextAttemptAt)} number={delivery.attemptsMade + 1} />
        )}
      </ol>
      {shown && <AttemptView attempt={shown} eventId={props.eventId} key={keyOf(shown)} />}
    </div>
  )
}

function NextAttempt({ at, number }: { at: number; number: number }) {
  return (
    <li class="is-ahead">
      <div class="attempt">
        <span class="attempt-mark is-mute">
          <ToneIcon shape="dashed" tone="mute" />
        </span>
        <span>{number}</span>
        <time>{formatExact(at, { withMs: false, withZone: false })}</time>
        <span class="attempt-answer">
          <span class="cut">
            {at > now.value ? `Next attempt in ${formatRelative(at, now.value)}` : 'Due now'}
          </span>
        </span>
        <span class="attempt-bar" />
        <span />
      </div>
    </li>
  )
}

function LatencyBar({ ms, isGood }: { ms: number; isGood: boolean }) {
  const share = Math.min(100, Math.max(3, (ms / TIMEOUT_MS) * 100))
  return (
    <svg class="attempt-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      <rect class="track" width="100" height="6" rx="3" />
      <rect
        class={!isGood && share === 100 ? 'part is-bad-fill' : 'part'}
        width={share}
        height="6"
        rx="3"
      />
    </svg>
  )
}
