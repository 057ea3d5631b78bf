/** One Slack app: problems, decisions over time and as they happen, workspaces and settings. */
import { useSignal } from '@preact/signals'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ChartPanel } from '../../parts/chart.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { ToneIcon } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { navigate } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'
import {
  countDecisions,
  type Decision,
  type DecisionCounts,
  deleteApp,
  deleteToken,
  listDecisions,
  listWorkspaces,
  type SlackApp,
} from './api.ts'
import { AppDialog } from './app-dialog.tsx'
import { Decisions } from './decisions.tsx'
import { InstallationDialog, InstallationPanel } from './installation.tsx'
import { RotateDialog } from './rotate-dialog.tsx'
import { TokenDialog } from './token-dialog.tsx'

const COUNTS_REFRESH_MS = 15_000
/** Minutes in one column. */
const COLUMN_MINUTES = 3

type Open =
  | { kind: 'token'; team?: string }
  | { kind: 'delete-token'; team: string }
  | { kind: 'change' }
  | { kind: 'rotate' }
  | { kind: 'installation' }
  | { kind: 'delete' }

export function AppPanels({ app, onChange }: { app: SlackApp; onChange: () => void }) {
  const open = useSignal<Open | undefined>(undefined)
  const counts = useResource((signal) => countDecisions(app.name, signal), {
    everyMs: COUNTS_REFRESH_MS,
  })
  const workspaces = useResource((signal) => listWorkspaces(app.name, signal))
  const undecided = useResource((signal) => listDecisions(app.name, 'undecidable', signal), {
    everyMs: COUNTS_REFRESH_MS,
  })
  const mayEdit = missingRole('editor', 'two-key')
  const close = () => (open.value = undefined)
  return (
    <>
      <RejectedTokens
        app={app.name}
        decisions={undecided.data.value ?? []}
        onSet={(team) => (open.value = { kind: 'token', team })}
      />
      <Loaded resource={counts} what="decisions over time">
        {(minutes) => <DecisionChart minutes={minutes} app={app.name} />}
      </Loaded>
      <Decisions app={app.name} />
      <div class="cols cols-2">
        <section class="panel" aria-labelledby="h-teams">
          <div class="panel-head">
            <h2 id="h-teams">Workspaces</h2>
            <span class="push" />
            <ActionButton
              small
              notAllowed={mayEdit}
              run={() => void (open.value = { kind: 'token' })}
            >
              <span>Set token…</span>
            </ActionButton>
          </div>
          <Loaded resource={workspaces} what="workspaces">
            {(found) =>
              found.length === 0 ? (
                <div class="panel-body form">
                  <p>
                    No workspace has a bot token, so requests are refused.
                    {app.installation ? ' Install the app, or set a token.' : ''}
                  </p>
                  <Command text={`strongroom slack token set ${app.name} TEAM`} />
                </div>
              ) : (
                <div class="table-wrap">
                  <table class="table">
                    <thead>
                      <tr>
                        <th>Team</th>
                        <th>Token set</th>
                        <th>
                          <span class="unseen">Action</span>
                        </th>
                      </tr>
                    </thead>
                    <tbody>
                      {found.map(({ team, installedAt }) => (
                        <tr key={team}>
                          <td>
                            <CopyId id={team} what="team" />
                          </td>
                          <td class="nowrap">
                            <RelativeTime time={installedAt} suffix=" ago" />
                          </td>
                          <td class="fit">
                            <ActionButton
                              small
                              look="danger"
                              notAllowed={mayEdit}
                              label={`Delete the token of ${team}`}
                              run={() => void (open.value = { kind: 'delete-token', team })}
                            >
                              <span>Delete…</span>
                            </ActionButton>
                          </td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              )
            }
          </Loaded>
        </section>
        <Settings app={app} onOpen={(kind) => (open.value = { kind })} />
      </div>
      <InstallationPanel app={app} onChange={() => (open.value = { kind: 'installation' })} />
      {open.value?.kind === 'token' && (
        <TokenDialog
          app={app.name}
          team={open.value.team}
          onClose={close}
          onSet={workspaces.reload}
        />
      )}
      {open.value?.kind === 'delete-token' && (
        <DeleteToken
          app={app.name}
          team={open.value.team}
          onClose={close}
          onDeleted={workspaces.reload}
        />
      )}
      {open.value?.kind === 'change' && <AppDialog app={app} onClose={close} onSaved={onChange} />}
      {open.value?.kind === 'rotate' && (
        <RotateDialog app={app.name} onClose={close} onRotated={onChange} />
      )}
      {open.value?.kind === 'installation' && (
        <InstallationDialog app={app} onClose={close} onSaved={onChange} />
      )}
      {open.value?.kind === 'delete' && (
        <ConfirmDialog
          title={`Delete ${app.name}?`}
          confirm="Delete app"
          keep="Keep app"
          typeName={app.name}
          consequences={[
            'Slack gets 404 for its requests from now on.',
            'Its signing secrets and the bot tokens of all workspaces are deleted.',
          ]}
          onClose={close}
          onConfirm={async () => {
            await deleteApp(app.name)
            showToast({ text: `${app.name} is deleted` })
            navigate('/server/slack', { replace: true })
            onChange()
          }}
        />
      )}
    </>
  )
}

/** No request of these workspaces passes until an operator acts. */
function RejectedTokens(props: {
  app: string
  decisions: readonly Decision[]
  onSet: (team: string) => void
}) {
  const { app, decisions, onSet } = props
  const teams = new Map<string, { since: string; scopes: readonly string[] }>()
  for (const { code, ids, at, missingScopes } of decisions)
    if (ids && (code === 'token_rejected' || code === 'missing_scope'))
      teams.set(ids.team, { since: at, scopes: teams.get(ids.team)?.scopes ?? missingScopes })
  return (
    <>
      {[...teams].map(([team, { since, scopes }]) => (
        <div class="notice is-bad" key={team} role="alert">
          <ToneIcon shape="cross" tone="bad" />
          <div class="notice-text">
            <strong>
              {app} cannot verify requests of {team}, since{' '}
              <RelativeTime time={since} suffix=" ago" />
            </strong>
            <p>
              {scopes.length > 0
                ? `Its bot token lacks ${scopes.join(', ')}. Reinstall the app with these scopes.`
                : 'Slack refuses its bot token. Replace the token.'}{' '}
              Until then requests get 503, and Slack sends events again:
            </p>
            <div class="notice-cmd">
              <Command text={`strongroom slack token set ${app} ${team}`} />
              <ActionButton
                look="primary"
                notAllowed={missingRole('editor', 'two-key')}
                run={() => onSet(team)}
              >
                <span>Set token…</span>
              </ActionButton>
            </div>
          </div>
        </div>
      ))}
    </>
  )
}

function DecisionChart({ minutes, app }: { minutes: readonly DecisionCounts[]; app: string }) {
  const columns: DecisionCounts[] = []
  for (let at = 0; at < minutes.length; at += COLUMN_MINUTES) {
    const part = minutes.slice(at, at + COLUMN_MINUTES)
    const sum = (name: 'accepted' | 'refused' | 'undecidable') =>
      part.reduce((total, each) => total + each[name], 0)
    columns.push({
      from: part[0]?.from ?? '',
      accepted: sum('accepted'),
      refused: sum('refused'),
      undecidable: sum('undecidable'),
    })
  }
  const starts = columns.map(({ from }) => Date.parse(from))
  const href = (outcome: string) => `/console/server/slack/${app}?outcome=${outcome}`
  const series = (name: string, of: 'accepted' | 'refused' | 'undecidable', color: string) => ({
    name,
    color,
    values: columns.map((each) => each[of]),
    href: href(of),
  })
  return (
    <ChartPanel
      title="Decisions in the last 3 hours"
      times={{ starts, endsAt: (starts.at(-1) ?? 0) + COLUMN_MINUTES * 60_000 }}
      frames={[
        {
          kind: 'columns',
          series: [
            series('Accepted', 'accepted', 'ok-area'),
            series('Undecided', 'undecidable', 'warn-mark'),
            series('Refused', 'refused', 'bad-mark'),
          ],
        },
      ]}
      note="Of the server that responds, since it started."
    />
  )
}

function Settings(props: {
  app: SlackApp
  onOpen: (kind: 'change' | 'rotate' | 'delete') => void
}) {
  const { app, onOpen } = props
  const policy = Object.entries(app.policy)
  return (
    <section class="panel" aria-labelledby="h-app">
      <div class="panel-head">
        <h2 id="h-app">Setup</h2>
      </div>
      <div class="panel-body form">
        <div class="field">
          <span class="label">Request URL, to set at Slack</span>
          <Command text={app.url} plain />
        </div>
        <dl class="facts">
          <dt>App at Slack</dt>
          <dd class="mono">{app.appId ?? 'Any'}</dd>
          <dt>Upstream</dt>
          <dd class="mono">{app.upstream.url}</dd>
          <dt>Signing secrets</dt>
          <dd>
            {app.signingSecrets.map(({ createdAt, expiresAt }) => (
              <p key={createdAt}>
                set <RelativeTime time={createdAt} suffix=" ago" />
                {expiresAt !== null && (
                  <>
                    , valid for <RelativeTime time={expiresAt} />
                  </>
                )}
              </p>
            ))}
          </dd>
          {policy.map(([name, value]) => (
            <>
              <dt>{name}</dt>
              <dd class="mono">
                {typeof value === 'object' ? JSON.stringify(value) : String(value)}
              </dd>
            </>
          ))}
        </dl>
      </div>
      <div class="panel-foot">
        <ActionButton
          small
          notAllowed={missingRole('admin', 'two-key')}
          run={() => onOpen('change')}
        >
          <span>Change…</span>
        </ActionButton>
        <ActionButton
          small
          notAllowed={missingRole('editor', 'two-key')}
          run={() => onOpen('rotate')}
        >
          <span>Rotate secret…</span>
        </ActionButton>
        <ActionButton
          small
          look="danger"
          notAllowed={missingRole('editor', 'two-key')}
          run={() => onOpen('delete')}
        >
          <span>Delete app…</span>
        </ActionButton>
      </div>
    </section>
  )
}

function DeleteToken(props: {
  app: string
  team: string
  onClose: () => void
  onDeleted: () => void
}) {
  const { app, team, onClose, onDeleted } = props
  return (
    <ConfirmDialog
      title={`Delete the token of ${team}?`}
      confirm="Delete token"
      keep="Keep token"
      consequences={[
        'Requests of this workspace are refused from now on; by other servers within five minutes.',
        'It can be set again at any time.',
      ]}
      onClose={onClose}
      onConfirm={async () => {
        await deleteToken(app, team)
        onDeleted()
      }}
    >
      <Command text={`strongroom slack token remove ${app} ${team}`} />
    </ConfirmDialog>
  )
}
