/** Adding a passkey: name it, confirm, then the browser asks. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { passkeyProblem } from '../../api/sign-in.ts'
import { TextField } from '../../parts/field.tsx'
import { ConfirmIdentity, type Confirmation } from './confirm-identity.tsx'

const PATH = '/ferryhook/v1/account/second-factor/passkeys'

export function PasskeySetup(props: {
  isEnabled: boolean
  onClose: () => void
  onDone: (recoveryCodes: readonly string[] | null) => void
}) {
  const name = useSignal('')
  const add = async (confirmation: Confirmation) => {
    const options = await request('POST', PATH, { json: confirmation })
    const { startRegistration } = await import('@simplewebauthn/browser')
    let response: unknown
    try {
      response = await startRegistration({ optionsJSON: options as never })
    } catch (error) {
      throw new Error(passkeyProblem(error) ?? messageOf(error), { cause: error })
    }
    const json = { name: name.value.trim() || 'Passkey', response }
    const path = `${PATH}/confirm`
    const made = await request<{ recoveryCodes: string[] | null }>('POST', path, { json })
    props.onDone(made.recoveryCodes)
  }
  return (
    <ConfirmIdentity
      title="Add a passkey"
      submit="Continue"
      isEnabled={props.isEnabled}
      onClose={props.onClose}
      onConfirm={add}
    >
      <TextField
        label="Name of the passkey"
        name="passkey-name"
        placeholder="Laptop"
        hint="To recognise it later"
        autocomplete="off"
        maxLength={64}
        value={name.value}
        onInput={(value) => (name.value = value)}
      />
    </ConfirmIdentity>
  )
}
