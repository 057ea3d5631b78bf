/** A status is a shape, a word and a colour; never a colour alone. */
import type { ComponentChildren } from 'preact'

export type Tone = 'ok' | 'info' | 'warn' | 'bad' | 'hold' | 'mute'

const SHAPES = {
  ring: <circle cx="8" cy="8" r="5.8" />,
  half: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path class="full" d="M8 2.2a5.8 5.8 0 0 1 0 11.6z" />
    </>
  ),
  check: (
    <>
      <circle class="full" cx="8" cy="8" r="6.5" />
      <path class="on" d="M5.2 8.3 7.2 10.3 10.9 6.2" />
    </>
  ),
  retry: (
    <>
      <path d="M13.6 8a5.6 5.6 0 1 1-1.7-4M13.8 1.8v3h-3" />
      <path d="M8 5.2V8l1.8 1.2" />
    </>
  ),
  cross: (
    <>
      <path class="full" d="M5.6 1.6h4.8l4 4v4.8l-4 4H5.6l-4-4V5.6z" />
      <path class="on" d="M5.9 5.9l4.2 4.2M10.1 5.9l-4.2 4.2" />
    </>
  ),
  shield: (
    <>
      <path
        class="full"
        d="M8 1.5l5.5 1.9v4.2c0 3.4-2.3 5.7-5.5 6.9-3.2-1.2-5.5-3.5-5.5-6.9V3.4z"
      />
      <path class="on" d="M6.2 6.1l3.6 3.6M9.8 6.1 6.2 9.7" />
    </>
  ),
  bars: (
    <>
      <rect class="full" x="1.7" y="1.7" width="12.6" height="12.6" rx="3" />
      <path class="on" d="M6.2 5.3v5.4M9.8 5.3v5.4" />
    </>
  ),
  funnel: <path d="M2 3h12L9.6 8.4v4.8L6.4 11.5V8.4z" />,
  dashed: <circle cx="8" cy="8" r="5.8" stroke-dasharray="2.4 2.15" />,
  question: (
    <>
      <circle class="full" cx="8" cy="8" r="6.5" />
      <path class="on" d="M6.2 6.4a1.9 1.9 0 1 1 2.7 1.7c-.6.3-.9.6-.9 1.2M8 11.6v.01" />
    </>
  ),
  triangle: (
    <>
      <path class="full" d="M8 1.8 15 14H1z" />
      <path class="on" d="M8 6.2v3.3M8 11.7v.01" />
    </>
  ),
  barred: (
    <>
      <circle cx="8" cy="8" r="5.8" />
      <path d="M4 12l8-8" />
    </>
  ),
} as const

type Shape = keyof typeof SHAPES

/** The words of the API, with the shape and the colour that each has everywhere. */
const STATUSES: Record<string, readonly [word: string, shape: Shape, tone: Tone]> = {
  received: ['Received', 'ring', 'info'],
  pending: ['Pending', 'ring', 'info'],
  runnable: ['Due', 'ring', 'info'],
  processing: ['Processing', 'half', 'info'],
  running: ['Running', 'half', 'info'],
  delivered: ['Delivered', 'check', 'ok'],
  active: ['Active', 'check', 'ok'],
  accepted: ['Accepted', 'check', 'ok'],
  ready: ['Ready', 'check', 'ok'],
  enabled: ['Enabled', 'check', 'ok'],
  verified: ['Verified', 'check', 'ok'],
  done: ['Done', 'check', 'ok'],
  retrying: ['Retrying', 'retry', 'warn'],
  failed: ['Failed', 'cross', 'bad'],
  failing: ['Failing', 'cross', 'bad'],
  refused: ['Refused', 'cross', 'bad'],
  overdue: ['Overdue', 'cross', 'bad'],
  unreadable: ['Unreadable', 'cross', 'bad'],
  not_ready: ['Not ready', 'cross', 'bad'],
  signature_failed: ['Signature failed', 'shield', 'bad'],
  held: ['Held', 'bars', 'hold'],
  paused: ['Paused', 'bars', 'hold'],
  suspended: ['Suspended', 'bars', 'hold'],
  filtered: ['Filtered', 'funnel', 'mute'],
  unrouted: ['Unrouted', 'dashed', 'mute'],
  unconfirmed: ['Unconfirmed', 'question', 'warn'],
  undecided: ['Undecided', 'question', 'warn'],
  not_seen: ['Not seen', 'triangle', 'warn'],
  degraded: ['Degraded', 'triangle', 'warn'],
  old: ['Old', 'triangle', 'warn'],
  disabled: ['Disabled', 'barred', 'mute'],
  cancelled: ['Cancelled', 'barred', 'mute'],
}

function statusOf(status: string): readonly [word: string, shape: Shape, tone: Tone] {
  const known = STATUSES[status]
  if (known) return known
  const word = status.replaceAll('_', ' ')
  return [word.charAt(0).toUpperCase() + word.slice(1), 'ring', 'mute']
}

export function statusWord(status: string): string {
  return statusOf(status)[0]
}

export function statusTone(status: string): Tone {
  return statusOf(status)[2]
}

export function StatusIcon({ status }: { status: string }) {
  const [, shape, tone] = statusOf(status)
  return <ToneIcon shape={shape} tone={tone} />
}

export function ToneIcon({ shape, tone }: { shape: Shape; tone: Tone }) {
  return (
    <svg class={`st-icon is-${tone}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[shape]}
    </svg>
  )
}

/** Quiet: in lists, where what went well must not draw attention. Badge: in headings. */
export function Status(props: {
  status: string
  look?: 'quiet' | 'badge'
  /** Instead of the word of the API, such as "Retrying 3 of 4, 503". */
  children?: ComponentChildren
}) {
  const [word, shape, tone] = statusOf(props.status)
  const look = props.look === 'badge' ? ' badge' : props.look === 'quiet' ? ' st-quiet' : ''
  return (
    <span class={`st is-${tone}${look}`}>
      <svg class="st-icon" viewBox="0 0 16 16" aria-hidden="true">
        {SHAPES[shape]}
      </svg>
      <span class="st-word">{props.children ?? word}</span>
    </span>
  )
}
