/** `/verify-email#ticket=…`: the link of a mail. It works only in a session of its own account. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { type User, user } from '../../api/user-session.ts'
import { Empty, Loading } from '../../parts/states.tsx'
import { takeFragment } from '../../router.ts'
import { Gate, GateForm } from './gate.tsx'
import { signInUser, type SecondFactorMethod } from '../../api/sign-in.ts'
import { TextField } from '../../parts/field.tsx'
import { SecondFactorStep } from '../../parts/second-factor-step.tsx'

type State = { kind: 'waiting' } | { kind: 'verified' } | { kind: 'failed'; message: string }

export default function VerifyEmail() {
  const ticket = useSignal('')
  const state = useSignal<State>({ kind: 'waiting' })
  const verify = async () => {
    try {
      const path = '/ferryhook/v1/account/email-verification/confirm'
      user.value = await request<User>('POST', path, { json: { ticket: ticket.value } })
      state.value = { kind: 'verified' }
    } catch (error) {
      state.value = { kind: 'failed', message: messageOf(error) }
    }
  }
  useLayoutEffect(() => {
    ticket.value = takeFragment().get('ticket') ?? ''
    if (user.value) void verify()
  }, [])
  return (
    <Gate
      name="Verify e-mail"
      title="Verify your address."
      text="Only a verified address can reset the password by mail."
    >
      {user.value === undefined ? (
        <SignInFirst onDone={() => void verify()} />
      ) : (
        <Outcome state={state.value} email={user.value.email} />
      )}
    </Gate>
  )
}

/** Here and not on the sign-in page: the ticket must not travel through an address. */
function SignInFirst({ onDone }: { onDone: () => void }) {
  const email = useSignal('')
  const password = useSignal('')
  const methods = useSignal<readonly SecondFactorMethod[] | undefined>(undefined)
  if (methods.value)
    return (
      <SecondFactorStep
        side="user"
        methods={methods.value}
        onDone={onDone}
        onExpired={() => (methods.value = undefined)}
      />
    )
  return (
    <GateForm
      label="Sign in"
      submit="Sign in and verify"
      onSubmit={async () => {
        methods.value = await signInUser(email.value, password.value)
        if (!methods.value) onDone()
      }}
    >
      <TextField
        class="input gate-input"
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        autofocus
        required
        value={email.value}
        onInput={(value) => (email.value = value)}
      />
      <TextField
        class="input gate-input"
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
        value={password.value}
        onInput={(value) => (password.value = value)}
      />
    </GateForm>
  )
}

function Outcome({ state, email }: { state: State; email: string }) {
  const on = (
    <a class="button button-primary" href="/console/">
      <span>Continue</span>
    </a>
  )
  if (state.kind === 'waiting') return <Loading rows={2} />
  if (state.kind === 'verified') return <Empty title={`${email} is verified`} actions={on} />
  return (
    <Empty glyph="failed" title="The address was not verified" actions={on}>
      {state.message}
    </Empty>
  )
}
