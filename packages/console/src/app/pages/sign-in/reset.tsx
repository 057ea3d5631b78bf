/** `/reset#ticket=…`: a new password. The ticket leaves the address bar immediately. */
import { useSignal } from '@preact/signals'
import { useLayoutEffect } from 'preact/hooks'
import { request } from '../../api/request.ts'
import { forgetSession } from '../../api/user-session.ts'
import { fieldProblem, TextField } from '../../parts/field.tsx'
import { formatCount } from '../../parts/format.ts'
import { Empty } from '../../parts/states.tsx'
import { navigate, takeFragment } from '../../router.ts'
import { Gate, GateForm } from './gate.tsx'

interface Credentials {
  apiKeys: readonly unknown[]
  identities: readonly string[]
}

interface Reset {
  revoked: Credentials
  remaining: Credentials
}

export default function ResetPassword() {
  const ticket = useSignal<string | null | undefined>(undefined)
  const password = useSignal('')
  const problem = useSignal<string | undefined>(undefined)
  const done = useSignal<Reset | undefined>(undefined)
  useLayoutEffect(() => {
    ticket.value = takeFragment().get('ticket')
    if (ticket.value === null) navigate('/forgotten', { replace: true })
  }, [])
  return (
    <Gate
      name="New password"
      title="Set a new password."
      text="All sessions end, and the link is used up. A second factor stays as it is."
      foot={<a href="/console/sign-in">Back to signing in</a>}
    >
      {done.value ? (
        <Empty
          title="The password was set"
          actions={
            <a class="button button-primary" href="/console/sign-in">
              <span>Sign in</span>
            </a>
          }
        >
          {describe(done.value)}
        </Empty>
      ) : (
        <GateForm
          label="Reset the password"
          submit="Set password"
          onSubmit={async () => {
            problem.value = undefined
            done.value = await request<Reset>('POST', '/ferryhook/v1/auth/password-reset', {
              as: 'nobody',
              json: { ticket: ticket.value ?? '', password: password.value },
            })
            forgetSession()
          }}
          onProblem={(error) => {
            problem.value = fieldProblem(error, 'password')
            return problem.value !== undefined
          }}
        >
          <TextField
            class="input gate-input"
            label="New password"
            name="password"
            type="password"
            autocomplete="new-password"
            hint="At least 10 characters"
            autofocus
            required
            maxLength={256}
            value={password.value}
            onInput={(value) => (password.value = value)}
            problem={problem.value}
          />
        </GateForm>
      )}
    </Gate>
  )
}

/** What was revoked, and what is left to look at. */
function describe({ revoked, remaining }: Reset): string {
  const name = ({ apiKeys, identities }: Credentials) =>
    [
      apiKeys.length > 0 && formatCount(apiKeys.length, 'API key'),
      identities.length > 0 && formatCount(identities.length, 'identity', 'identities'),
    ]
      .filter(Boolean)
      .join(' and ')
  const [gone, left] = [name(revoked), name(remaining)]
  return [
    gone !== '' && `Revoked, because they are from before the address was verified: ${gone}.`,
    left !== '' && `Still valid: ${left}. Your account asks you to confirm them.`,
    gone === '' && left === '' && 'All sessions have ended.',
  ]
    .filter(Boolean)
    .join(' ')
}
