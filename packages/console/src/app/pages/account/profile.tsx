/** Name, e-mail address and password, and preferences of this browser. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { hasCode, messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { type User, user } from '../../api/user-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { isUtc, writeSetting } from '../../parts/format.ts'
import { guardLeaving } from '../../router.ts'
import { areSingleKeysOn, setSingleKeys } from '../../shell/keyboard.ts'
import { showToast } from '../../shell/toasts.tsx'

const PATH = '/ferryhook/v1/account'

export function Profile() {
  const account = user.value
  if (!account) return null
  return (
    <>
      <NameForm account={account} />
      <EmailForm account={account} />
      <PasswordForm account={account} />
      <Preferences />
    </>
  )
}

/** A panel with one form: what was typed stays when saving fails. */
function FormPanel(props: {
  title: string
  note?: ComponentChildren
  submit: string
  isDirty: boolean
  onSubmit: () => Promise<void>
  /** True if the problem is shown at a field. */
  onProblem?: (error: unknown) => boolean
  children: ComponentChildren
}) {
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const isDirty = useSignal(props.isDirty)
  isDirty.value = props.isDirty
  useEffect(() => guardLeaving(() => isDirty.value), [])
  const save = async () => {
    if (isBusy.value || !props.isDirty) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.onSubmit()
    } catch (error) {
      if (!props.onProblem?.(error)) problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>{props.title}</h2>
      </div>
      <form
        class="form panel-body"
        aria-label={props.title}
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {props.note !== undefined && <p class="panel-note">{props.note}</p>}
        {props.children}
        {problem.value !== undefined && <Problem>{problem.value}</Problem>}
        <div class="buttons">
          <button
            class="button button-primary"
            type="submit"
            aria-disabled={!props.isDirty || isBusy.value}
            aria-busy={isBusy.value}
          >
            <span>{props.submit}</span>
          </button>
        </div>
      </form>
    </section>
  )
}

function NameForm({ account }: { account: User }) {
  const name = useSignal(account.name)
  const problem = useSignal<string | undefined>(undefined)
  return (
    <FormPanel
      title="Name"
      submit="Save name"
      isDirty={name.value !== account.name}
      onSubmit={async () => {
        problem.value = undefined
        user.value = await request<User>('PATCH', PATH, { json: { name: name.value } })
        name.value = user.value.name
        showToast({ text: 'The name was saved' })
      }}
      onProblem={(error) => (problem.value = fieldProblem(error, 'name')) !== undefined}
    >
      <TextField
        label="Name"
        name="name"
        autocomplete="name"
        maxLength={100}
        value={name.value}
        onInput={(value) => (name.value = value)}
        problem={problem.value}
      />
    </FormPanel>
  )
}

function EmailForm({ account }: { account: User }) {
  const email = useSignal(account.email)
  const password = useSignal('')
  const problems = useSignal<{ email?: string | undefined; password?: string | undefined }>({})
  const isDirty = email.value !== account.email
  return (
    <FormPanel
      title="E-mail"
      note={<Verification account={account} />}
      submit="Change e-mail"
      isDirty={isDirty}
      onSubmit={async () => {
        problems.value = {}
        const json = {
          email: email.value,
          ...(account.hasPassword && { currentPassword: password.value }),
        }
        user.value = await request<User>('PATCH', PATH, { json })
        email.value = user.value.email
        password.value = ''
        showToast({ text: 'The e-mail address was changed' })
      }}
      onProblem={(error) => {
        problems.value = {
          email: hasCode(error, 'ferryhook.email_taken')
            ? messageOf(error)
            : fieldProblem(error, 'email'),
          password: hasCode(error, 'ferryhook.wrong_password') ? messageOf(error) : undefined,
        }
        return problems.value.email !== undefined || problems.value.password !== undefined
      }}
    >
      <TextField
        label="E-mail"
        name="email"
        type="email"
        autocomplete="email"
        maxLength={254}
        value={email.value}
        onInput={(value) => (email.value = value)}
        problem={problems.value.email}
      />
      {isDirty && account.hasPassword && (
        <TextField
          label="Current password"
          name="current-password"
          type="password"
          autocomplete="current-password"
          value={password.value}
          onInput={(value) => (password.value = value)}
          problem={problems.value.password}
        />
      )}
    </FormPanel>
  )
}

function Verification({ account }: { account: User }) {
  if (account.emailVerified)
    return <>This address is verified. It can reset the password by mail.</>
  return (
    <>
      This address is not verified, so it cannot reset the password by mail.{' '}
      <ActionButton
        small
        run={async () => {
          await request('POST', `${PATH}/email-verification`)
          showToast({ text: `A mail to ${account.email} is on its way` })
        }}
      >
        <span>Send a mail to verify it</span>
      </ActionButton>
    </>
  )
}

function PasswordForm({ account }: { account: User }) {
  const current = useSignal('')
  const next = useSignal('')
  const problems = useSignal<{ current?: string | undefined; next?: string | undefined }>({})
  return (
    <FormPanel
      title="Password"
      note={
        account.hasPassword
          ? 'A new password ends all your other sessions.'
          : 'You sign in through a provider. With a password you can sign in without it.'
      }
      submit={account.hasPassword ? 'Change password' : 'Set password'}
      isDirty={next.value !== ''}
      onSubmit={async () => {
        problems.value = {}
        const json = {
          newPassword: next.value,
          ...(account.hasPassword && { currentPassword: current.value }),
        }
        await request('PUT', `${PATH}/password`, { json })
        current.value = ''
        next.value = ''
        user.value = { ...account, hasPassword: true }
        showToast({ text: 'The password was changed, and all other sessions have ended' })
      }}
      onProblem={(error) => {
        problems.value = {
          current: hasCode(error, 'ferryhook.wrong_password') ? messageOf(error) : undefined,
          next: fieldProblem(error, 'newPassword'),
        }
        return problems.value.current !== undefined || problems.value.next !== undefined
      }}
    >
      <input
        class="unseen"
        type="email"
        name="username"
        autocomplete="username"
        readOnly
        tabIndex={-1}
        aria-label="Account"
        value={account.email}
      />
      {account.hasPassword && (
        <TextField
          label="Current password"
          name="current-password"
          type="password"
          autocomplete="current-password"
          value={current.value}
          onInput={(value) => (current.value = value)}
          problem={problems.value.current}
        />
      )}
      <TextField
        label="New password"
        name="new-password"
        type="password"
        autocomplete="new-password"
        hint="At least 10 characters"
        maxLength={256}
        value={next.value}
        onInput={(value) => (next.value = value)}
        problem={problems.value.next}
      />
    </FormPanel>
  )
}

function Preferences() {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>This browser</h2>
      </div>
      <div class="form panel-body">
        <label class="line-field">
          <input
            class="switch"
            type="checkbox"
            role="switch"
            checked={areSingleKeysOn.value}
            onChange={(event) => setSingleKeys(event.currentTarget.checked)}
          />
          <span>
            Single-key shortcuts
            <span class="hint">
              {' '}
              such as j, k and r. Switch them off if other software types them.
            </span>
          </span>
        </label>
        <div class="field">
          <label class="label" for="zone">
            Times
          </label>
          <select
            class="select"
            id="zone"
            value={isUtc.value ? 'utc' : 'local'}
            onChange={(event) => {
              isUtc.value = event.currentTarget.value === 'utc'
              writeSetting('utc', isUtc.value ? '1' : undefined)
            }}
          >
            <option value="local">In the time zone of this browser ({zone})</option>
            <option value="utc">In UTC</option>
          </select>
        </div>
      </div>
    </section>
  )
}
