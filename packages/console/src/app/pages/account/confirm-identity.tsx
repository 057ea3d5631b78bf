/** Asks for the password or a factor before a second factor is changed. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { hasCode, messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { askPasskey, passkeyProblem, type Proof } from '../../api/sign-in.ts'
import { user } from '../../api/user-session.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'

/** As the API takes it. */
export type Confirmation = { currentPassword: string } | { secondFactor: Proof } | object

type Way = 'password' | 'totp' | 'recovery_code' | 'passkey'

const LABELS: Record<Exclude<Way, 'passkey'>, string> = {
  password: 'Current password',
  totp: 'Code of your app',
  recovery_code: 'Recovery code',
}

export function ConfirmIdentity(props: {
  title: string
  submit: string
  isDestructive?: boolean
  /** Whether the account has a second factor. */
  isEnabled: boolean
  onConfirm: (confirmation: Confirmation) => Promise<void>
  onClose: () => void
  children?: ComponentChildren
}) {
  const hasPassword = user.value?.hasPassword ?? true
  const ways: Way[] = [
    ...(hasPassword ? (['password'] as const) : []),
    ...(props.isEnabled ? (['totp', 'passkey', 'recovery_code'] as const) : []),
  ]
  const way = useSignal<Way | undefined>(ways[0])
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)

  const confirmation = async (): Promise<Confirmation> => {
    switch (way.value) {
      case undefined:
        return {}
      case 'password':
        return { currentPassword: typed.value }
      case 'passkey': {
        const path = '/ferryhook/v1/account/second-factor/challenge'
        const response = await askPasskey(() => request('POST', path))
        return { secondFactor: { method: 'passkey', response } }
      }
      default:
        return { secondFactor: { method: way.value, code: typed.value } }
    }
  }
  const run = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.onConfirm(await confirmation())
    } catch (error) {
      problem.value = hasCode(error, 'second-factor.passkeys_unavailable')
        ? 'This account has no passkey'
        : (passkeyProblem(error) ?? messageOf(error))
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={() => void run()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Cancel</span>
          </button>
          <button
            class={`button ${props.isDestructive ? 'button-destroy' : 'button-primary'}`}
            type="submit"
            aria-disabled={isBusy.value}
          >
            <span>{props.submit}</span>
          </button>
        </>
      }
    >
      {props.children}
      {ways.length > 1 && (
        <div class="field">
          <label class="label" for="confirm-way">
            Confirm with
          </label>
          <select
            class="select"
            id="confirm-way"
            value={way.value}
            onChange={(event) => {
              way.value = event.currentTarget.value as Way
              typed.value = ''
              problem.value = undefined
            }}
          >
            {ways.map((each) => (
              <option key={each} value={each}>
                {each === 'passkey' ? 'Passkey' : LABELS[each]}
              </option>
            ))}
          </select>
        </div>
      )}
      {way.value !== undefined && way.value !== 'passkey' && (
        <TextField
          key={way.value}
          label={LABELS[way.value]}
          name={way.value === 'password' ? 'current-password' : 'code'}
          type={way.value === 'password' ? 'password' : 'text'}
          autocomplete={
            { password: 'current-password', totp: 'one-time-code', recovery_code: 'off' }[way.value]
          }
          autofocus
          value={typed.value}
          onInput={(value) => (typed.value = value)}
          problem={problem.value}
        />
      )}
      {(way.value === undefined || way.value === 'passkey') && problem.value !== undefined && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
    </Dialog>
  )
}
