/** Security events by type, and detected abuse with its blocks. */
import { useSignal } from '@preact/signals'
import { type AbuseLine, security, type SecurityEventLine } from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatDuration, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { More } from '../../parts/more.tsx'
import { usePagedList } from '../../parts/paged-list.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { type Tone, ToneIcon } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { detailText } from '../sites/history.tsx'

const TABS = [
  ['auth_failure', 'Refused credentials', 'cross', 'bad'],
  ['rate_limit', 'Rate limits', 'triangle', 'warn'],
  ['suspicious_activity', 'Suspicious activity', 'question', 'warn'],
  ['abuse', 'Abuse patterns', 'shield', 'bad'],
] as const
type Tab = (typeof TABS)[number][0]

const SITE = /^site_[A-Za-z0-9_-]{16}$/

export default function SecurityEventsPage() {
  const type: Tab = TABS.find(([name]) => name === param('type'))?.[0] ?? 'auth_failure'
  const given = param('site')
  const site = given !== undefined && SITE.test(given) ? given : undefined
  return (
    <>
      <Bar title="Security events" note="kept for 30 days" />
      <main id="main">
        {site === undefined ? (
          <nav class="tabs tabs-bar" aria-label="Type">
            {TABS.map(([name, label, shape, tone]) => (
              <a
                class={`tab st-tab is-${tone}`}
                href={`/console/server/security-events?type=${name}`}
                aria-current={name === type ? 'true' : undefined}
                key={name}
              >
                <ToneIcon shape={shape} tone={tone} />
                <span>{label}</span>
              </a>
            ))}
          </nav>
        ) : (
          <div class="filters">
            <span class="token">
              <span class="token-text">
                Site <b class="mono">{site}</b>
              </span>
              <button
                type="button"
                aria-label="Remove the filter site"
                onClick={() => setQuery({ site: undefined })}
              >
                <Icon name="close" />
              </button>
            </span>
            <a class="small" href={`/console/server/sites?site=${site}`}>
              Open the site
            </a>
          </div>
        )}
        <div class="page page-flush">
          {type === 'abuse' && site === undefined ? (
            <Patterns />
          ) : (
            <Events type={type} site={site} key={`${type} ${site ?? ''}`} />
          )}
        </div>
      </main>
    </>
  )
}

function Events({ type, site }: { type: Tab; site: string | undefined }) {
  const list = usePagedList(`${type} ${site ?? ''}`, (cursor, abort) =>
    security.events(
      { ...(site === undefined ? { type } : { site_id: site }), cursor, limit: 50 },
      abort,
    ),
  )
  const items = list.items.value
  const command =
    site === undefined
      ? `strongroom security-events list --type ${type}`
      : `strongroom security-events list --site ${site}`
  if (items === undefined)
    return list.error.value === undefined ? (
      <Loading />
    ) : (
      <Failed what="security events" resource={list} />
    )
  if (items.length === 0)
    return (
      <Empty glyph="none" title={site === undefined ? NONE[type] : 'No event of this site'}>
        Events are kept for 30 days.
      </Empty>
    )
  return (
    <>
      <table class="table table-cards table-flush">
        <thead>
          <tr>
            <th>What</th>
            <th>Site</th>
            <th>Address</th>
            <th>Client</th>
            <th class="right">When</th>
          </tr>
        </thead>
        <tbody>
          {items.map((event, at) => (
            <EventRow
              event={event}
              withType={site !== undefined}
              key={`${event.timestamp} ${at}`}
            />
          ))}
        </tbody>
      </table>
      <More list={list} />
      <div class="page-foot">
        <Command text={command} />
      </div>
    </>
  )
}

const NONE: Record<Tab, string> = {
  auth_failure: 'No request was refused for its credentials',
  rate_limit: 'No caller reached a rate limit',
  suspicious_activity: 'No suspicious activity',
  abuse: '',
}

function EventRow({ event, withType }: { event: SecurityEventLine; withType: boolean }) {
  const tab = TABS.find(([name]) => name === event.event_type)
  const [, label = event.event_type, shape = 'ring', tone = 'mute'] = tab ?? []
  const isKnown = SITE.test(event.site_id)
  return (
    <tr>
      <td class="card-main">
        <span class={`st is-${tone}`}>
          <ToneIcon shape={shape} tone={tone} />
          <span class="st-word">{sentence(detailText(event.details)) || label}</span>
        </span>
        {withType && <span class="second"> {label}</span>}
      </td>
      <td class="cut-cell" data-name="Site">
        {isKnown ? (
          <a class="link" href={`/console/server/sites?site=${event.site_id}`}>
            <bdi>{event.domain ?? event.site_id}</bdi>
          </a>
        ) : (
          <span class="faint">{event.domain ? <bdi>{event.domain}</bdi> : 'Unknown'}</span>
        )}
      </td>
      <td class="fit" data-name="Address">
        <CopyId id={event.client_ip} what="address hash" />
      </td>
      <td class="soft cut-cell card-none" title={event.user_agent}>
        <bdi>{event.user_agent === '' ? '—' : event.user_agent}</bdi>
      </td>
      <td class="right soft fit" data-name="When">
        <RelativeTime time={event.timestamp} suffix=" ago" />
      </td>
    </tr>
  )
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

const PATTERN_TYPES = ['registration_spam', 'invalid_domains', 'api_abuse'] as const
const PATTERN_WORDS: Record<AbuseLine['pattern_type'], string> = {
  registration_spam: 'Registration spam',
  invalid_domains: 'Invalid domains',
  api_abuse: 'API abuse',
}

/** How bad it is, as a shape and a colour. */
const SEVERITIES: Record<
  AbuseLine['severity'],
  readonly [tone: Tone, shape: Parameters<typeof ToneIcon>[0]['shape'], word: string]
> = {
  low: ['info', 'ring', 'Low'],
  medium: ['warn', 'triangle', 'Medium'],
  high: ['bad', 'cross', 'High'],
  critical: ['bad', 'cross', 'Critical'],
}

function Patterns() {
  return (
    <>
      {PATTERN_TYPES.map((type) => (
        <PatternList type={type} key={type} />
      ))}
      <div class="page-foot">
        <Command text="strongroom abuse list" />
      </div>
    </>
  )
}

function PatternList({ type }: { type: AbuseLine['pattern_type'] }) {
  const list = usePagedList(type, (cursor, abort) =>
    security.patterns({ type, cursor, limit: 50 }, abort),
  )
  const cleared = useSignal<AbuseLine | undefined>(undefined)
  const notAllowed = missingRole('editor', 'form-bridge')
  const items = list.items.value
  return (
    <section class="flush-part" aria-label={PATTERN_WORDS[type]}>
      <h2 class="flush-title">{PATTERN_WORDS[type]}</h2>
      {items === undefined ? (
        list.error.value === undefined ? (
          <Loading rows={2} />
        ) : (
          <Failed what="abuse patterns" resource={list} />
        )
      ) : items.length === 0 ? (
        <p class="flush-none soft">Nobody.</p>
      ) : (
        <>
          <table class="table table-cards table-flush">
            <thead>
              <tr>
                <th>Who</th>
                <th>Severity</th>
                <th>Effect</th>
                <th class="right">Detected</th>
                <th class="right">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((pattern) => {
                const [tone, shape, word] = SEVERITIES[pattern.severity]
                return (
                  <tr key={`${pattern.identifier} ${pattern.detected_at}`}>
                    <td class="card-main">
                      {SITE.test(pattern.identifier) ? (
                        <a
                          class="link mono"
                          href={`/console/server/sites?site=${pattern.identifier}`}
                        >
                          {pattern.identifier}
                        </a>
                      ) : (
                        <CopyId id={pattern.identifier} what="identifier" />
                      )}
                    </td>
                    <td class="fit">
                      <span class={`st is-${tone}`}>
                        <ToneIcon tone={tone} shape={shape} />
                        <span class="st-word">{word}</span>
                      </span>
                    </td>
                    <td class="soft fit" data-name="Effect">
                      {effectOf(pattern, now.value)}
                    </td>
                    <td class="right soft fit" data-name="Detected">
                      <RelativeTime time={pattern.detected_at} suffix=" ago" />
                    </td>
                    <td class="right fit">
                      <ActionButton
                        small
                        run={() => void (cleared.value = pattern)}
                        notAllowed={notAllowed}
                      >
                        <span>Unblock…</span>
                      </ActionButton>
                    </td>
                  </tr>
                )
              })}
            </tbody>
          </table>
          {list.hasMore.value && <More list={list} />}
        </>
      )}
      {cleared.value && (
        <ConfirmDialog
          title={`Unblock ${cleared.value.identifier}?`}
          confirm="Unblock"
          keep="Keep block"
          isDestructive={false}
          consequences={[
            'All its detections of this kind are deleted; blocks and slowdowns end immediately.',
            'The next detection starts again as a warning.',
          ]}
          onConfirm={async () => {
            const pattern = cleared.value
            if (!pattern) return
            await security.clear(pattern)
            list.update((all) => all.filter((each) => each.identifier !== pattern.identifier))
            showToast({ text: `${pattern.identifier} is unblocked` })
          }}
          onClose={() => (cleared.value = undefined)}
        >
          <Command text={`strongroom abuse unblock ${type} ${cleared.value.identifier}`} />
        </ConfirmDialog>
      )}
    </section>
  )
}

/** `Blocked, ends in 40 min`; what is over is only remembered. */
function effectOf({ details, detected_at }: AbuseLine, at: number): string {
  const left = (name: 'blocked' | 'slowed') => {
    const seconds = details[name]
    if (typeof seconds !== 'number') return 0
    return Date.parse(detected_at) + 1000 * seconds - at
  }
  if (left('blocked') > 0) return `Blocked, ends in ${formatDuration(left('blocked'))}`
  if (left('slowed') > 0)
    return `A quarter of the limits, ends in ${formatDuration(left('slowed'))}`
  return `None now, detected ${formatRelative(Date.parse(detected_at), at)} ago`
}
