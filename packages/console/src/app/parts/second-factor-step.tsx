/** The second step of a sign-in: a passkey, a code of an app, or a recovery code. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { hasCode, messageOf } from '../api/errors.ts'
import {
  finishSignIn,
  passkeyProblem,
  passkeyProof,
  type Proof,
  type SecondFactorMethod,
} from '../api/sign-in.ts'
import { Problem, TextField } from './field.tsx'

const NAMES: Record<SecondFactorMethod, string> = {
  passkey: 'Use a passkey',
  totp: 'Use a code of your app',
  recovery_code: 'Use a recovery code',
}

export function SecondFactorStep(props: {
  side: 'user' | 'operator'
  methods: readonly SecondFactorMethod[]
  onDone: () => void
  /** The sign-in expired or was tried too often: it begins with the first step again. */
  onExpired: (message: string) => void
}) {
  const { side, methods } = props
  const chosen = useSignal<SecondFactorMethod>(methods[0] ?? 'totp')
  const code = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)

  const run = async (prove: () => Promise<Proof>) => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await finishSignIn(side, await prove())
      props.onDone()
    } catch (error) {
      if (hasCode(error, 'ferryhook.sign_in_expired', 'operator.sign_in_expired'))
        props.onExpired(messageOf(error))
      else problem.value = passkeyProblem(error) ?? messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  const submit = () => {
    const method = chosen.value
    void run(async () => (method === 'passkey' ? passkeyProof(side) : { method, code: code.value }))
  }
  // A code of six digits is complete, so nobody has to press Enter.
  useEffect(() => {
    if (chosen.value === 'totp' && /^\d{6}$/.test(code.value.trim())) submit()
  }, [code.value])

  const choose = (method: SecondFactorMethod) => {
    chosen.value = method
    code.value = ''
    problem.value = undefined
  }
  return (
    <form
      class="form gate-form"
      aria-label="Second factor"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        submit()
      }}
    >
      {chosen.value === 'passkey' && (
        <p class="soft">Confirm with the passkey of this account: a fingerprint, face or PIN.</p>
      )}
      {chosen.value === 'totp' && (
        <TextField
          key="totp"
          class="input gate-input mono"
          label="Code"
          name="code"
          hint="Six digits, from your authenticator app"
          autocomplete="one-time-code"
          inputMode="numeric"
          autofocus
          maxLength={10}
          value={code.value}
          onInput={(value) => (code.value = value)}
          problem={problem.value}
        />
      )}
      {chosen.value === 'recovery_code' && (
        <TextField
          key="recovery"
          class="input gate-input mono"
          label="Recovery code"
          name="recovery-code"
          hint="One of the ten that you stored. Each works once."
          autocomplete="off"
          autofocus
          maxLength={50}
          value={code.value}
          onInput={(value) => (code.value = value)}
          problem={problem.value}
        />
      )}
      {chosen.value === 'passkey' && problem.value !== undefined && (
        <Problem>{problem.value}</Problem>
      )}
      <button
        class="button button-primary button-large"
        type="submit"
        aria-disabled={isBusy.value}
        aria-busy={isBusy.value}
      >
        <span>{chosen.value === 'passkey' ? 'Continue with a passkey' : 'Sign in'}</span>
      </button>
      <div class="gate-ways">
        {methods
          .filter((method) => method !== chosen.value)
          .map((method) => (
            <button class="link" type="button" key={method} onClick={() => choose(method)}>
              {NAMES[method]}
            </button>
          ))}
      </div>
    </form>
  )
}
