/** What happened to a site, newest first: changes by operators, security events, versions. */
import type { HistoryEntry } from '../../api/form-bridge.ts'
import { type Tone, ToneIcon } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'

export function History(props: {
  history: { items: HistoryEntry[]; is_complete: boolean }
  siteId: string
}) {
  const { items, is_complete } = props.history
  return (
    <section class="detail-part">
      <h3>History</h3>
      {items.length === 0 && <p class="faint small">Nothing happened to it in the last 30 days.</p>}
      <ol class="hist-lines">
        {items.map((entry, at) => {
          const { strong, text, tone, shape } = describe(entry)
          return (
            <li class="hist-line" key={at}>
              <span class={`st is-${tone}`}>
                <ToneIcon tone={tone} shape={shape} />
              </span>
              <span class="hist-text">
                <span class="strong">{strong}</span>
                {text !== '' && <span class="soft"> {text}</span>}
              </span>
              <span class="push faint small nowrap">
                <RelativeTime time={entry.at} />
              </span>
            </li>
          )
        })}
      </ol>
      {!is_complete && (
        <p class="small">
          <a href={`/console/server/security-events?site=${props.siteId}`}>
            All security events of the site
          </a>
        </p>
      )}
    </section>
  )
}

interface Line {
  strong: string
  text: string
  tone: Tone
  shape: Parameters<typeof ToneIcon>[0]['shape']
}

const CHANGES: Record<string, readonly [strong: string, tone: Tone, shape: Line['shape']]> = {
  'site.suspended': ['Suspended', 'hold', 'bars'],
  'site.resumed': ['Resumed', 'ok', 'check'],
  'site.confirmed': ['Confirmed', 'ok', 'check'],
  'site.disabled': ['Disabled', 'mute', 'barred'],
  'site.destination_set': ['Destination set', 'info', 'ring'],
  'site.destination_removed': ['Destination removed', 'info', 'ring'],
  'site.move_approved': ['Move approved', 'info', 'ring'],
}

const EVENTS: Record<string, readonly [strong: string, tone: Tone, shape: Line['shape']]> = {
  auth_failure: ['Request refused', 'bad', 'cross'],
  rate_limit: ['Rate limit reached', 'warn', 'triangle'],
  suspicious_activity: ['Suspicious activity', 'warn', 'question'],
}

function describe(entry: HistoryEntry): Line {
  if (entry.kind === 'version') {
    const { version, previous_version } = entry
    const text =
      previous_version === null ? `has ${version}` : `from ${previous_version} to ${version}`
    return {
      strong: previous_version === null ? 'First update check' : 'Version changed',
      text,
      tone: 'ok',
      shape: 'check',
    }
  }
  if (entry.kind === 'security_event') {
    if (entry.details['reason'] === 'reconnected') {
      const isConfirmed = entry.details['confirmed'] !== false
      return {
        strong: 'Reconnected',
        text: isConfirmed ? 'with its old key' : 'without its old key',
        tone: isConfirmed ? 'ok' : 'warn',
        shape: isConfirmed ? 'check' : 'question',
      }
    }
    if (entry.details['reason'] === 'moved')
      return { strong: 'Moved', text: movedFrom(entry.details), tone: 'info', shape: 'ring' }
    const [strong, tone, shape] = EVENTS[entry.event_type] ?? [entry.event_type, 'mute', 'ring']
    return { strong, text: detailText(entry.details), tone, shape }
  }
  const name = entry.action.replace(/^form-bridge\./, '')
  const [strong, tone, shape] = CHANGES[name] ?? [name, 'mute', 'ring']
  const by = `by ${entry.actor.replace(/^operator:/, '')}`
  const reason = entry.reason === null ? '' : `: ${entry.reason}`
  return { strong, text: `${by}${reason}`, tone, shape }
}

function movedFrom({ from }: Readonly<Record<string, unknown>>): string {
  return typeof from === 'string' ? `from ${from}` : ''
}

/** `unauthorized, 3 more`: the reason, and how often it repeated. */
export function detailText(details: Readonly<Record<string, unknown>>): string {
  const { reason, repeated } = details
  const words = typeof reason === 'string' ? reason.replaceAll('_', ' ') : ''
  return typeof repeated === 'number' ? `${words}, ${repeated} more` : words
}
