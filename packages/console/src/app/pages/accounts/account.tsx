/** One Ferryhook account, as an operator sees it: plan, sign-in, reset link, deletion. */
import { useSignal } from '@preact/signals'
import type { OperatorUserView } from '@strongroom/ferryhook/accounts/users/view'
import { V1 } from '../../api/ferryhook.ts'
import { missingRole } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatNumber } from '../../parts/format.ts'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { type Resource, useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { ExactTime } from '../../parts/time.tsx'
import type { PageProps } from '../../pages.ts'
import { navigate } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { type Plan, PLAN_NAMES, quoted, type Ticket } from './plans.ts'

export default function AccountPage({ params }: PageProps) {
  const { id = '' } = params
  const resource = useResource((signal) =>
    request<OperatorUserView>('GET', `${V1}/users/${encodeURIComponent(id)}`, {
      as: 'operator',
      signal,
    }),
  )
  return (
    <>
      <Bar
        title={resource.data.value?.email ?? 'Account'}
        parent={{ label: 'Accounts', href: '/console/server/accounts' }}
      />
      <main id="main">
        <Loaded resource={resource} what="the account">
          {(user) => (
            <div class="page">
              <Facts user={user} />
              <PlanPanel user={user} resource={resource} />
              <ResetPanel user={user} />
              <SecondFactorPanel user={user} />
              <DeletePanel user={user} />
            </div>
          )}
        </Loaded>
      </main>
    </>
  )
}

function Facts({ user }: { user: OperatorUserView }) {
  const signIn = [...(user.hasPassword ? ['password'] : []), ...user.identities]
  return (
    <section class="panel" aria-label="Account">
      <div class="panel-body">
        <dl class="facts">
          <dt>Name</dt>
          <dd>{user.name}</dd>
          <dt>E-mail</dt>
          <dd>
            {user.email}{' '}
            {user.emailVerified ? (
              <Status status="verified" />
            ) : (
              <Status status="unconfirmed">Not verified</Status>
            )}
          </dd>
          <dt>Signs in with</dt>
          <dd>{signIn.join(', ') || 'nothing, only API keys'}</dd>
          <dt>Events this month</dt>
          <dd class="num">
            {formatNumber(user.usageThisMonth)}
            {user.usageIsLowerBound && '+'}
          </dd>
          <dt>Created</dt>
          <dd>
            <ExactTime time={user.createdAt} withMs={false} />
          </dd>
          <dt>Id</dt>
          <dd>
            <CopyId id={user.id} what="account id" full />
          </dd>
        </dl>
      </div>
    </section>
  )
}

function PlanPanel({
  user,
  resource,
}: {
  user: OperatorUserView
  resource: Resource<OperatorUserView>
}) {
  const plan = useSignal<Plan>(user.plan)
  const save = async () => {
    const path = `${V1}/users/${user.id}/plan`
    const json = { plan: plan.value }
    resource.set(await request<OperatorUserView>('PUT', path, { as: 'operator', json }))
    showToast({ text: `The plan is ${PLAN_NAMES[plan.value]} now` })
  }
  const notAllowed =
    missingRole('editor', 'ferryhook') ??
    (plan.value === user.plan ? 'Choose another plan first' : undefined)
  return (
    <section class="panel" aria-labelledby="h-plan">
      <div class="panel-head">
        <h2 id="h-plan">Plan</h2>
        <p>Its limits apply immediately</p>
      </div>
      <div class="panel-body form">
        <div class="with-button plan-line">
          <select
            class="select"
            aria-label="Plan"
            value={plan.value}
            onChange={(event) => (plan.value = event.currentTarget.value as Plan)}
          >
            {Object.entries(PLAN_NAMES).map(([value, name]) => (
              <option value={value} key={value}>
                {name}
              </option>
            ))}
          </select>
          <ActionButton look="primary" run={save} notAllowed={notAllowed}>
            <span>Change plan</span>
          </ActionButton>
        </div>
        <Command text={`strongroom user plan ${quoted(user.email)} ${plan.value}`} />
      </div>
    </section>
  )
}

function ResetPanel({ user }: { user: OperatorUserView }) {
  const link = useSignal<string | undefined>(undefined)
  const isAsking = useSignal(false)
  const create = async () => {
    const path = `${V1}/users/${user.id}/password-resets`
    link.value = (await request<Ticket>('POST', path, { as: 'operator' })).url
  }
  return (
    <section class="panel" aria-labelledby="h-reset">
      <div class="panel-head">
        <h2 id="h-reset">Password reset</h2>
        <p>For a user who cannot sign in</p>
        <span class="push" />
        <ActionButton
          run={() => void (isAsking.value = true)}
          notAllowed={missingRole('admin', 'ferryhook')}
        >
          <span>Create reset link…</span>
        </ActionButton>
      </div>
      <div class="panel-body">
        <Command text={`strongroom user reset ${quoted(user.email)}`} />
      </div>
      {isAsking.value && (
        <ConfirmDialog
          title="Create a password reset link?"
          confirm="Create link"
          keep="Keep password"
          isDestructive={false}
          consequences={[
            'Whoever has the link can sign in as this user, once, within one day',
            'The user gets a mail, if mail is configured, and a notice at the next sign-ins',
            'It is recorded in both audit logs',
          ]}
          onConfirm={create}
          onClose={() => (isAsking.value = false)}
        />
      )}
      {link.value !== undefined && (
        <OnceSecretDialog
          title={`Reset link of ${user.email}`}
          text="Give it to the user on a way you trust. It works once, within one day, and is shown only now."
          secret={link.value}
          onClose={() => (link.value = undefined)}
        />
      )}
    </section>
  )
}

function SecondFactorPanel({ user }: { user: OperatorUserView }) {
  const isAsking = useSignal(false)
  const reset = async () => {
    await request('DELETE', `${V1}/users/${user.id}/second-factor`, { as: 'operator' })
    showToast({ text: `The second factor of ${user.email} was reset` })
  }
  return (
    <section class="panel" aria-labelledby="h-factor">
      <div class="panel-head">
        <h2 id="h-factor">Second factor</h2>
        <p>For a user who lost all factors and recovery codes</p>
        <span class="push" />
        <ActionButton
          run={() => void (isAsking.value = true)}
          notAllowed={missingRole('admin', 'ferryhook')}
        >
          <span>Reset second factor…</span>
        </ActionButton>
      </div>
      {isAsking.value && (
        <ConfirmDialog
          title={`Reset the second factor of ${user.email}?`}
          confirm="Reset second factor"
          keep="Keep second factor"
          consequences={[
            'All authenticators, passkeys and recovery codes are deleted',
            'All sessions of the user end',
            'Signing in then needs the password alone',
          ]}
          onConfirm={reset}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </section>
  )
}

function DeletePanel({ user }: { user: OperatorUserView }) {
  const isAsking = useSignal(false)
  const remove = async () => {
    await request('DELETE', `${V1}/users/${user.id}`, { as: 'operator' })
    showToast({ text: `${user.email} was deleted` })
    navigate('/server/accounts', { force: true })
  }
  return (
    <section class="panel" aria-labelledby="h-delete">
      <div class="panel-head">
        <h2 id="h-delete">Delete this account</h2>
        <span class="push" />
        <ActionButton
          look="danger"
          run={() => void (isAsking.value = true)}
          notAllowed={missingRole('admin', 'ferryhook')}
        >
          <span>Delete account…</span>
        </ActionButton>
      </div>
      <div class="panel-body">
        <Command text={`strongroom user remove ${quoted(user.email)}`} />
      </div>
      {isAsking.value && (
        <ConfirmDialog
          title={`Delete ${user.email}?`}
          confirm="Delete account"
          keep="Keep account"
          typeName={user.email}
          consequences={[
            'API keys, sources and connections are deleted permanently',
            'Its addresses reject events immediately',
            'Events expire as the plan says',
          ]}
          onConfirm={remove}
          onClose={() => (isAsking.value = false)}
        />
      )}
    </section>
  )
}
