/** The open site: what it is, what it uses, what happened to it, and what can be done. */
import { type ReadonlySignal, useSignal } from '@preact/signals'
import {
  type ApiKeyLine,
  limits,
  type OperatorSite,
  type ReleaseLine,
  type SiteAction,
  sites,
} from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { formatClock, formatDay, formatNumber, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { LimitLine } from '../../parts/meter.tsx'
import { useResource } from '../../parts/resource.ts'
import { Failed, Loaded, Loading } from '../../parts/states.tsx'
import { Status, StatusIcon } from '../../parts/status.tsx'
import { versionState } from '../../parts/versions.ts'
import { RelativeTime } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { DestinationDialog, LimitDialog, ReasonDialog } from './actions.tsx'
import { History } from './history.tsx'
import { statusOfSite } from './status.ts'

type Asked = SiteAction | 'limit' | 'destination'

export function Drawer(props: {
  id: string
  releases: readonly ReleaseLine[]
  onClose: () => void
  onChange: () => void
}) {
  const { id, onClose } = props
  const site = useResource((abort) => sites.get(id, abort))
  const history = useResource((abort) => sites.history(id, abort))
  const asked = useSignal<Asked | undefined>(undefined)
  const changes = useSignal(0)
  const found = site.data.value
  const changed = () => {
    changes.value += 1
    site.reload()
    history.reload()
    props.onChange()
  }
  const ask = (what: Asked) => () => void (asked.value = what)
  const close = () => (asked.value = undefined)
  return (
    <aside class="pane pane-detail" aria-label="Site">
      <div class="detail-head">
        <div class="detail-title">
          <button
            class="button button-quiet button-icon detail-back"
            type="button"
            aria-label="Back to sites"
            onClick={onClose}
          >
            <Icon name="arrow-left" />
          </button>
          <h2 class="cut" title={found?.domain}>
            <bdi>{found?.domain ?? id}</bdi>
          </h2>
          <span class="push" />
          {found && found.status !== 'disabled' && (
            <a
              class="button button-icon button-quiet"
              href={`https://${found.domain}`}
              target="_blank"
              rel="noopener noreferrer"
              aria-label="Open the site in a new tab"
              title="Open the site in a new tab"
            >
              <Icon name="open" />
            </a>
          )}
          <button
            class="hide-small button button-icon button-quiet"
            type="button"
            aria-label="Close (Esc)"
            title="Close (Esc)"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        </div>
        {found && (
          <div class="detail-sub">
            <Status status={statusOfSite(found, now.value)} look="badge" />
            <CopyId id={found.site_id} what="site id" />
            {found.agency && (
              <a href={`/console/server/agencies/${found.agency.agency_id}`} class="cut">
                <bdi>{found.agency.agency_name}</bdi>
              </a>
            )}
          </div>
        )}
      </div>
      <div class="pane-scroll" tabIndex={0} aria-label="Site">
        {found === undefined ? (
          site.error.value === undefined ? (
            <Loading rows={4} />
          ) : (
            <Failed what="the site" resource={site} />
          )
        ) : (
          <>
            {found.confirmation_needed && found.status !== 'disabled' && (
              <Unconfirmed site={found} onConfirm={ask('confirm')} onSuspend={ask('suspend')} />
            )}
            <Facts site={found} releases={props.releases} onDestination={ask('destination')} />
            <Keys id={id} />
            <RateUse id={id} changes={changes} />
            <Loaded resource={history} what="the history">
              {(data) => <History history={data} siteId={id} />}
            </Loaded>
            <section class="detail-part">
              <h3>Command</h3>
              <Command text={`strongroom sites show ${id}`} />
            </section>
          </>
        )}
      </div>
      {found && found.status !== 'disabled' && <Foot site={found} ask={ask} />}
      {found && asked.value === 'limit' && (
        <LimitDialog scope="api" id={id} name={found.domain} onClose={close} onDone={changed} />
      )}
      {found && asked.value === 'destination' && (
        <DestinationDialog site={found} onClose={close} onDone={changed} />
      )}
      {found && asked.value !== undefined && isAction(asked.value) && (
        <ReasonDialog
          action={asked.value}
          name={found.domain}
          siteId={id}
          {...(asked.value === 'disable' && { typeName: found.domain })}
          onConfirm={(reason) => act(found, asked.value as SiteAction, reason, changed)}
          onClose={close}
        />
      )}
    </aside>
  )
}

function isAction(asked: Asked): asked is SiteAction {
  return asked !== 'limit' && asked !== 'destination'
}

const DONE = {
  suspend: 'suspended',
  resume: 'resumed',
  confirm: 'confirmed',
  disable: 'disabled',
} as const

async function act(
  site: OperatorSite,
  action: SiteAction,
  reason: string,
  onDone: () => void,
): Promise<void> {
  await sites.act(site.site_id, action, reason)
  onDone()
  const undo = { suspend: 'resume', resume: 'suspend' }[action as 'suspend'] as
    | SiteAction
    | undefined
  showToast({
    text: `${site.domain} is ${DONE[action]}`,
    ...(undo && {
      action: {
        label: 'Undo',
        run: () => {
          sites
            .act(site.site_id, undo, '')
            .then(onDone, () =>
              showToast({ text: `${site.domain} could not be ${DONE[undo]}`, tone: 'bad' }),
            )
        },
      },
    }),
  })
}

function Unconfirmed(props: { site: OperatorSite; onConfirm: () => void; onSuspend: () => void }) {
  const { unconfirmed_since } = props.site
  const notAllowed = missingRole('editor', 'form-bridge')
  const since = unconfirmed_since === null ? undefined : Date.parse(unconfirmed_since)
  return (
    <div class="detail-part">
      <div class="notice is-warn">
        <StatusIcon status="unconfirmed" />
        <div class="notice-text">
          <strong>Reconnected without its old key</strong>
          <p>
            {since !== undefined && `${formatDay(since)} at ${formatClock(since)}. `}
            Agency and destination are on hold until somebody confirms that it is the same site.
          </p>
          <div class="buttons notice-acts">
            <ActionButton small look="primary" run={props.onConfirm} notAllowed={notAllowed}>
              <span>Confirm site…</span>
            </ActionButton>
            {props.site.status === 'active' && (
              <ActionButton small run={props.onSuspend} notAllowed={notAllowed}>
                <span>Suspend…</span>
              </ActionButton>
            )}
          </div>
        </div>
      </div>
    </div>
  )
}

function Facts(props: {
  site: OperatorSite
  releases: readonly ReleaseLine[]
  onDestination: () => void
}) {
  const { site, releases } = props
  const version = site.installed_version
  const state = version === null ? undefined : versionState(version, releases)
  return (
    <section class="detail-part">
      <h3>Site</h3>
      <dl class="facts">
        <dt>Plugin</dt>
        <dd>
          {version ?? <span class="faint">Unknown: no update check yet</span>}{' '}
          {state?.isNewest && <span class="faint">newest</span>}
          {state?.isWithdrawn && <span class="tag tag-bad">Withdrawn</span>}
          {state && !state.isWithdrawn && (state.behind ?? 0) > 0 && (
            <span class="tag">{state.behind} behind</span>
          )}
        </dd>
        <dt>WordPress, PHP</dt>
        <dd>
          {site.wp_version === null ? (
            <span class="faint">Not reported: the owner has not agreed</span>
          ) : (
            [site.wp_version, site.php_version].filter((each) => each !== null).join(', ')
          )}
        </dd>
        <dt>Last seen</dt>
        <dd>
          <RelativeTime time={site.last_seen} suffix=" ago" />
          <span class="faint">, {formatNumber(site.request_count)} requests in all</span>
        </dd>
        <dt>Connected</dt>
        <dd>{formatDay(Date.parse(site.created_at))}</dd>
        {site.environment !== 'production' && (
          <>
            <dt>Environment</dt>
            <dd>{site.environment}</dd>
          </>
        )}
        <dt>Destination</dt>
        <dd>
          {destinationText(site)}
          {site.status !== 'disabled' && (
            <>
              {' '}
              <ActionButton
                small
                look="quiet"
                run={props.onDestination}
                notAllowed={missingRole('admin', 'form-bridge')}
              >
                <span>Change…</span>
              </ActionButton>
            </>
          )}
        </dd>
      </dl>
    </section>
  )
}

function destinationText(site: OperatorSite) {
  if (site.confirmation_needed) return <span>On hold until it is confirmed</span>
  if (site.has_destination) return 'Its own'
  if (site.has_default_destination) return 'The one of the server'
  return <span class="warn-text">None: submissions wait on the site</span>
}

function Keys({ id }: { id: string }) {
  const keys = useResource((abort) => sites.keys(id, abort))
  return (
    <section class="detail-part">
      <h3>Keys</h3>
      <Loaded resource={keys} what="keys" loading={<span class="faint small">Loading…</span>}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="faint small">No key works any more.</p>
          ) : (
            <dl class="facts">
              {items.map((key) => (
                <KeyLine line={key} key={key.key_version} />
              ))}
            </dl>
          )
        }
      </Loaded>
    </section>
  )
}

function KeyLine({ line }: { line: ApiKeyLine }) {
  const ends = line.expires_at === null ? undefined : Date.parse(line.expires_at)
  return (
    <>
      <dt>Version {line.key_version}</dt>
      <dd>
        {line.state === 'current' && 'Current'}
        {line.state === 'revoked' && 'Revoked'}
        {line.state === 'grace' &&
          (ends === undefined ? 'Replaced' : `Ends in ${formatRelative(ends, now.value)}`)}
        <span class="faint">
          , used <RelativeTime time={line.last_used} suffix=" ago" />
        </span>
      </dd>
    </>
  )
}

const WINDOWS: Record<string, string> = { minute: 'Minute', hour: 'Hour', day: 'Day' }

function RateUse({ id, changes }: { id: string; changes: ReadonlySignal<number> }) {
  const state = useResource(
    (abort) => {
      // Loaded again after a change.
      void changes.value
      return limits.state('api', id, abort)
    },
    { everyMs: 15_000 },
  )
  return (
    <section class="detail-part">
      <div class="part-head">
        <h3>Rate use</h3>
        {state.data.value?.override && <span class="tag">Override</span>}
        {state.data.value?.is_slowed && <span class="tag tag-warn">Slowed down</span>}
      </div>
      <Loaded resource={state} what="limits" loading={<span class="faint small">Loading…</span>}>
        {(found) => (
          <>
            {found.limits.map(({ name, used, limit }) => (
              <LimitLine name={WINDOWS[name] ?? name} used={used} limit={limit} key={name} />
            ))}
          </>
        )}
      </Loaded>
    </section>
  )
}

function Foot(props: { site: OperatorSite; ask: (what: Asked) => () => void }) {
  const { site, ask } = props
  const notAllowed = missingRole('editor', 'form-bridge')
  return (
    <div class="detail-foot">
      {site.status === 'suspended' ? (
        <ActionButton run={ask('resume')} notAllowed={notAllowed}>
          <Icon name="play" />
          <span>Resume…</span>
        </ActionButton>
      ) : (
        <ActionButton run={ask('suspend')} notAllowed={notAllowed}>
          <Icon name="pause" />
          <span>Suspend…</span>
        </ActionButton>
      )}
      <ActionButton run={ask('limit')} notAllowed={notAllowed}>
        <span>Set limit…</span>
      </ActionButton>
      <span class="push" />
      <ActionButton look="danger" run={ask('disable')} notAllowed={notAllowed}>
        <span>Disable…</span>
      </ActionButton>
    </div>
  )
}
