/** One event of the list. */
import { formatBytes, formatDuration } from '../../parts/format.ts'
import { Status, statusTone } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { type ListedEvent, nameOf, resultOf } from './event.ts'

const LOUD = ['bad', 'warn']

export function EventRow(props: {
  event: ListedEvent
  href: string
  isOpen: boolean
  isCurrent: boolean
  isPicked: boolean
  onPick: (event: MouseEvent) => void
}) {
  const { event, isOpen, isPicked } = props
  const { short, long } = resultOf(event)
  const tone = statusTone(event.status)
  const name = nameOf(event)
  const looks = [isPicked && 'is-picked', isOpen && 'is-open', props.isCurrent && 'is-current']
  return (
    <li class={['row', ...looks.filter(Boolean)].join(' ')}>
      <input
        class="check row-check"
        type="checkbox"
        aria-label={`Select ${name}, ${event.id}`}
        checked={isPicked}
        onClick={props.onPick}
      />
      <span class="row-status">
        <Status status={event.status} look="quiet" />
      </span>
      <a
        class="row-name cut"
        href={props.href}
        id={`row-${event.id}`}
        aria-current={isOpen ? 'true' : undefined}
      >
        <bdi>{name}</bdi>
      </a>
      <span class="row-more cut">
        <bdi>{event.sourceName}</bdi>
      </span>
      <span class={LOUD.includes(tone) ? `row-result cut st-text is-${tone}` : 'row-result cut'}>
        <span class="row-short">{short}</span>
        <span class="row-long">{long}</span>
      </span>
      <span class="row-wide row-latency">
        {event.lastAttempt && event.lastAttempt.latencyMs > 0
          ? formatDuration(event.lastAttempt.latencyMs)
          : ''}
      </span>
      <span class="row-wide row-size">{formatBytes(event.bodyBytes)}</span>
      <span class="row-time">
        <RelativeTime time={event.receivedAt} />
      </span>
    </li>
  )
}
