/** Setting up an authenticator app: confirm, scan, type the first code. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { ConfirmIdentity, type Confirmation } from './confirm-identity.tsx'
import { QrCode } from '../../parts/second-factor/qr-code.tsx'

const PATH = '/ferryhook/v1/account/second-factor/totp'

interface Setup {
  secret: string
  uri: string
}

export function AppSetup(props: {
  isEnabled: boolean
  onClose: () => void
  onDone: (recoveryCodes: readonly string[] | null) => void
}) {
  const setup = useSignal<Setup | undefined>(undefined)
  const code = useSignal('')
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const start = async (confirmation: Confirmation) => {
    setup.value = await request<Setup>('POST', PATH, { json: confirmation })
  }
  const confirm = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      const json = { code: code.value.replaceAll(/\s/g, '') }
      const path = `${PATH}/confirm`
      const made = await request<{ recoveryCodes: string[] | null }>('POST', path, { json })
      props.onDone(made.recoveryCodes)
    } catch (error) {
      problem.value = messageOf(error)
    } finally {
      isBusy.value = false
    }
  }
  if (!setup.value)
    return (
      <ConfirmIdentity
        key="confirm"
        title="Set up an authenticator app"
        submit="Continue"
        isEnabled={props.isEnabled}
        onClose={props.onClose}
        onConfirm={start}
      >
        <p>First confirm that it is you.</p>
      </ConfirmIdentity>
    )
  return (
    <Dialog
      key="scan"
      title="Scan with your app"
      onClose={props.onClose}
      onSubmit={() => void confirm()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Cancel</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Add app</span>
          </button>
        </>
      }
    >
      <QrCode text={setup.value.uri} label="QR code for your authenticator app" />
      <p>Or type this secret into the app:</p>
      <Command text={setup.value.secret} plain />
      <TextField
        label="Code"
        name="code"
        hint="The six digits that the app now shows"
        autocomplete="one-time-code"
        inputMode="numeric"
        autofocus
        maxLength={10}
        value={code.value}
        onInput={(value) => (code.value = value)}
        problem={problem.value}
      />
    </Dialog>
  )
}
