/** One operator: rights, sessions, and what can be done about it, each with the command for it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { ListedOperatorView } from '@strongroom/server/operators/view'
import { missingRole, operator as self } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Status } from '../../parts/status.tsx'
import { ExactTime, RelativeTime } from '../../parts/time.tsx'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { RightsDialog, ROLES } from './rights.tsx'
import { listSessions, SessionsPanel } from './sessions.tsx'

type Open = 'rights' | 'rotate' | 'reset' | 'remove'

export function OperatorDetail(props: { operator: ListedOperatorView; onChanged: () => void }) {
  const { operator, onChanged } = props
  const { name } = operator
  const sessions = useResource((signal) => listSessions(name, signal))
  const open = useSignal<Open | undefined>(undefined)
  const token = useSignal<string | undefined>(undefined)
  const notAllowed = missingRole('admin', 'server')
  const isSelf = self.value?.name === name
  const path = `/server/v1/operators/${encodeURIComponent(name)}`
  const close = () => (open.value = undefined)
  const act = (which: Open) => () => void (open.value = which)
  return (
    <>
      <Bar title={name} parent={{ label: 'Operators', href: '/console/server/operators' }} />
      <main id="main">
        <div class="page">
          <Rights operator={operator} />
          <section class="panel" aria-labelledby="actions">
            <div class="panel-head">
              <h2 id="actions">Actions</h2>
            </div>
            <ul class="acts">
              <Act
                text="Change the role, services or expiry"
                command={`strongroom operator change ${name} --role editor`}
              >
                <ActionButton notAllowed={notAllowed} run={act('rights')}>
                  <span>Change rights…</span>
                </ActionButton>
              </Act>
              <Act
                text="Replace the token; the old one and all sessions end"
                command={`strongroom operator rotate ${name}`}
              >
                <ActionButton notAllowed={notAllowed} run={act('rotate')}>
                  <span>Rotate token…</span>
                </ActionButton>
              </Act>
              <Act
                text="Reset a lost second factor"
                command={`strongroom operator reset-2fa ${name}`}
              >
                <ActionButton
                  notAllowed={
                    notAllowed ??
                    (isSelf ? 'Another admin must reset your second factor' : undefined) ??
                    (operator.secondFactor ? undefined : `${name} has no second factor`)
                  }
                  run={act('reset')}
                >
                  <span>Reset second factor…</span>
                </ActionButton>
              </Act>
              <Act text="Remove the operator" command={`strongroom operator remove ${name}`}>
                <ActionButton look="danger" notAllowed={notAllowed} run={act('remove')}>
                  <span>Remove operator…</span>
                </ActionButton>
              </Act>
            </ul>
          </section>
          <SessionsPanel sessions={sessions} command={`strongroom operator sessions ${name}`} />
        </div>
      </main>
      {open.value === 'rights' && (
        <RightsDialog
          title={`Change the rights of ${name}`}
          submit="Change rights"
          keep="Keep rights"
          rights={operator}
          run={async ({ role, services, expiresAt }) => {
            const json = { role, services, expiresAt }
            await request('PATCH', path, { as: 'operator', json })
            showToast({ text: `The rights of ${name} are changed.` })
            onChanged()
          }}
          onClose={close}
        />
      )}
      {open.value === 'rotate' && (
        <ConfirmDialog
          title={`Rotate the token of ${name}?`}
          confirm="Rotate token"
          keep="Keep token"
          consequences={[
            'The old token is refused immediately.',
            'All sessions of this operator end.',
            ...(isSelf ? ['You sign in again with the new token.'] : []),
            'Programs that use the old token stop working until they have the new one.',
          ]}
          onConfirm={async () => {
            const rotated = await request<{ token: string }>('POST', `${path}/token`, {
              as: 'operator',
            })
            token.value = rotated.token
          }}
          onClose={close}
        />
      )}
      {open.value === 'reset' && (
        <ConfirmDialog
          title={`Reset the second factor of ${name}?`}
          confirm="Reset second factor"
          keep="Keep second factor"
          consequences={[
            'App, passkeys and recovery codes become invalid.',
            'All sessions of this operator end.',
            `${name} signs in with the token alone until a new one is set up.`,
          ]}
          onConfirm={async () => {
            await request('DELETE', `${path}/second-factor`, { as: 'operator' })
            showToast({ text: `The second factor of ${name} is reset.` })
            onChanged()
            sessions.reload()
          }}
          onClose={close}
        />
      )}
      {open.value === 'remove' && (
        <ConfirmDialog
          title={`Remove ${name}?`}
          confirm="Remove operator"
          keep="Keep operator"
          typeName={name}
          consequences={[
            'The token is refused immediately, and all sessions end.',
            'The second factor is deleted.',
            'What the operator did stays in the audit log.',
          ]}
          onConfirm={async () => {
            await request('DELETE', path, { as: 'operator' })
            showToast({ text: `${name} is removed.` })
            onChanged()
            navigate('/server/operators')
          }}
          onClose={close}
        />
      )}
      {token.value !== undefined && (
        <OnceSecretDialog
          title={`New token of ${name}`}
          text="Store it now: it is not shown again. If it is lost, rotate it again."
          secret={token.value}
          onClose={() => {
            token.value = undefined
            onChanged()
            sessions.reload()
          }}
        />
      )}
    </>
  )
}

function Act(props: { text: string; command: string; children: ComponentChildren }) {
  return (
    <li class="act">
      <span>{props.text}</span>
      <Command text={props.command} />
      {props.children}
    </li>
  )
}

function Rights({ operator }: { operator: ListedOperatorView }) {
  const { role, services, expiresAt, createdAt, rotatedAt, lastUsedAt, secondFactor } = operator
  return (
    <section class="panel" aria-labelledby="rights">
      <div class="panel-head">
        <h2 id="rights">Rights</h2>
        <p>
          {role}: {ROLES[role].toLowerCase()}
        </p>
      </div>
      <dl class="facts panel-body">
        <dt>Services</dt>
        <dd>{services === null ? 'All, and the server itself' : services.join(', ')}</dd>
        <dt>Expires</dt>
        <dd>{expiresAt === null ? 'Never' : <ExactTime time={expiresAt} withMs={false} />}</dd>
        <dt>Second factor</dt>
        <dd>
          {secondFactor ? (
            <Status status="enabled" look="quiet" />
          ) : (
            <Status status="disabled" look="quiet">
              None
            </Status>
          )}
        </dd>
        <dt>Added</dt>
        <dd>
          <RelativeTime time={createdAt} suffix=" ago" />
        </dd>
        <dt>Token</dt>
        <dd>
          {rotatedAt === null ? (
            'Never rotated'
          ) : (
            <>
              Rotated <RelativeTime time={rotatedAt} suffix=" ago" />
            </>
          )}
          {', '}
          {lastUsedAt === null ? (
            'never used'
          ) : (
            <>
              last used <RelativeTime time={lastUsedAt} suffix=" ago" />
            </>
          )}
        </dd>
      </dl>
    </section>
  )
}
