/** Asks again who somebody is, before second factors change. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { messageOf } from '../../api/errors.ts'
import {
  askPasskey,
  passkeyProblem,
  type Proof,
  type SecondFactorMethod,
} from '../../api/sign-in.ts'
import { Dialog } from '../dialog.tsx'
import { Problem, TextField } from '../field.tsx'

const NAMES: Record<SecondFactorMethod, string> = {
  passkey: 'Use a passkey',
  totp: 'Use a code of your app',
  recovery_code: 'Use a recovery code',
}

export function VerifyDialog(props: {
  /** Empty while there is no second factor: then the password or token is asked for. */
  methods: readonly SecondFactorMethod[]
  /** "Token" or "Password". */
  secretLabel: string
  passkeyOptions: () => Promise<unknown>
  verify: (proof: Proof | { method: 'secret'; secret: string }) => Promise<void>
  onClose: () => void
}) {
  const { methods } = props
  const method = useSignal<SecondFactorMethod | 'secret'>(methods[0] ?? 'secret')
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)

  const prove = async (): Promise<Proof | { method: 'secret'; secret: string }> => {
    switch (method.value) {
      case 'secret':
        return { method: 'secret', secret: typed.value.trim() }
      case 'passkey':
        return { method: 'passkey', response: await askPasskey(props.passkeyOptions) }
      default:
        return { method: method.value, code: typed.value }
    }
  }
  const verify = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.verify(await prove())
    } catch (error) {
      problem.value = passkeyProblem(error) ?? messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  const field = (label: string, hint: ComponentChildren, isSecret: boolean) => (
    <TextField
      key={method.value}
      label={label}
      hint={hint}
      class="input mono"
      type={isSecret ? 'password' : 'text'}
      autocomplete={method.value === 'totp' ? 'one-time-code' : 'off'}
      {...(method.value === 'totp' && { inputMode: 'numeric' as const })}
      autofocus
      required
      maxLength={200}
      value={typed.value}
      problem={problem.value}
      onInput={(value) => (typed.value = value)}
    />
  )
  return (
    <Dialog
      title="Verify that it is you"
      onClose={props.onClose}
      onSubmit={() => void verify()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Change nothing</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>{method.value === 'passkey' ? 'Use passkey' : 'Verify'}</span>
          </button>
        </>
      }
    >
      <div class="form">
        <p>Changes of your sign-in need a proof from the last 10 minutes.</p>
        {method.value === 'secret' && field(props.secretLabel, 'As when you signed in', true)}
        {method.value === 'totp' && field('Code', 'The six digits that your app shows now', false)}
        {method.value === 'recovery_code' && field('Recovery code', 'Each works once', false)}
        {method.value === 'passkey' && problem.value !== undefined && (
          <Problem>{problem.value}</Problem>
        )}
        {methods.length > 1 && (
          <div class="buttons">
            {methods
              .filter((other) => other !== method.value)
              .map((other) => (
                <button
                  class="button button-small button-quiet"
                  type="button"
                  key={other}
                  onClick={() => {
                    method.value = other
                    typed.value = ''
                    problem.value = undefined
                  }}
                >
                  <span>{NAMES[other]}</span>
                </button>
              ))}
          </div>
        )}
      </div>
    </Dialog>
  )
}
