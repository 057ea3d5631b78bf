/** Sets up an authenticator app: scan, then type the first code. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { CopyButton } from '../copy.tsx'
import { Dialog } from '../dialog.tsx'
import { TextField } from '../field.tsx'
import type { Enrolment, SecondFactorApi } from './api.ts'
import { QrCode } from './qr-code.tsx'

export function TotpDialog(props: {
  setup: { secret: string; uri: string }
  api: Pick<SecondFactorApi, 'confirmTotp'>
  onAdded: (enrolment: Enrolment) => void
  onClose: () => void
}) {
  const { secret, uri } = props.setup
  const code = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const confirm = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      const enrolment = await props.api.confirmTotp(code.value)
      props.onClose()
      props.onAdded(enrolment)
    } catch (error) {
      problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title="Set up an authenticator app"
      onClose={props.onClose}
      onSubmit={() => void confirm()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Set up nothing</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Add app</span>
          </button>
        </>
      }
    >
      <div class="totp-setup">
        <QrCode text={uri} label="QR code of the key for the app" />
        <div class="form">
          <p>
            Scan the code with an authenticator app, such as the one of your password manager. If
            you cannot scan it, type this key:
          </p>
          <div class="totp-key">
            <code class="mono">{secret.replaceAll(/.{4}(?=.)/g, '$& ')}</code>
            <CopyButton text={secret} label="Copy key" />
          </div>
          <TextField
            label="Code"
            hint="The six digits that the app shows now"
            class="input mono"
            inputMode="numeric"
            autocomplete="one-time-code"
            autofocus
            required
            maxLength={10}
            value={code.value}
            problem={problem.value}
            onInput={(value) => (code.value = value)}
          />
        </div>
      </div>
    </Dialog>
  )
}
