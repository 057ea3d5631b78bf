/** `/console/`: leads on to the overview, or exchanges the bootstrap code of the first admin. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { loadOperatorSession, operator } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { user } from '../../api/user-session.ts'
import { Command } from '../../parts/copy.tsx'
import { TextField } from '../../parts/field.tsx'
import { navigate, takeFragment } from '../../router.ts'
import { Gate, GateForm } from '../sign-in/gate.tsx'

export default function Start() {
  const code = useSignal<string | undefined>(undefined)
  useLayoutEffect(() => {
    code.value = takeFragment().get('bootstrap') ?? undefined
    if (code.value !== undefined) return
    const to = user.value ? '/overview' : operator.value ? '/server' : '/sign-in'
    navigate(to, { replace: true })
  }, [])
  return code.value === undefined ? null : <Bootstrap code={code.value} />
}

/** The name is asked first, because the code works once. */
function Bootstrap({ code }: { code: string }) {
  const name = useSignal('admin')
  const token = useSignal<string | undefined>(undefined)
  if (token.value !== undefined)
    return (
      <Gate
        name="Your token"
        title={`Welcome, ${name.value}.`}
        text="You are signed in for 12 hours. Later you sign in with this token."
      >
        <div class="form gate-form">
          <h2 class="gate-subtitle">Your token</h2>
          <p class="soft">It is shown once. Store it in your password manager.</p>
          <Command text={token.value} plain />
          <a class="button button-primary button-large" href="/console/server">
            <span>I have stored it</span>
          </a>
        </div>
      </Gate>
    )
  return (
    <Gate
      name="First admin"
      title="Become the first admin."
      text="This link works once. It makes you the operator who can do everything on this server."
    >
      <GateForm
        label="First admin"
        submit="Continue"
        onSubmit={async () => {
          const json = { code, name: name.value.trim(), session: true }
          const made = await request<{ name: string; token: string }>(
            'POST',
            '/server/v1/bootstrap',
            { as: 'nobody', json },
          )
          name.value = made.name
          token.value = made.token
          await loadOperatorSession()
        }}
      >
        <TextField
          class="input gate-input"
          label="Your name as an operator"
          name="operator"
          hint="In the audit log: lower case letters, digits and dashes"
          autocomplete="off"
          autofocus
          required
          maxLength={64}
          value={name.value}
          onInput={(value) => (name.value = value)}
        />
      </GateForm>
    </Gate>
  )
}
