/** `/forgotten`: a reset link by mail. The response is the same whether or not the account exists. */
import { useSignal } from '@preact/signals'
import { request } from '../../api/request.ts'
import { TextField } from '../../parts/field.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty } from '../../parts/states.tsx'
import { Gate, GateForm, loadOptions } from './gate.tsx'

export default function Forgotten() {
  const email = useSignal('')
  const isSent = useSignal(false)
  const options = useResource(loadOptions)
  return (
    <Gate
      name="Forgotten password"
      title="Forgotten your password?"
      text="A link sets a new one. It works once, within a day."
      foot={<a href="/console/sign-in">Back to signing in</a>}
    >
      <Content
        hasMail={options.data.value?.mail ?? true}
        isSent={isSent.value}
        email={email.value}
        onInput={(value) => (email.value = value)}
        onSubmit={async () => {
          await request('POST', '/ferryhook/v1/auth/password-forgotten', {
            as: 'nobody',
            json: { email: email.value },
          })
          isSent.value = true
        }}
      />
    </Gate>
  )
}

function Content(props: {
  hasMail: boolean
  isSent: boolean
  email: string
  onInput: (email: string) => void
  onSubmit: () => Promise<void>
}) {
  if (!props.hasMail)
    return (
      <Empty glyph="locked" title="This server sends no mail">
        Ask whoever runs it for a link. An operator creates one with this command:{' '}
        <code>strongroom user reset</code>
      </Empty>
    )
  if (props.isSent)
    return (
      <Empty title="Look into your mailbox">
        If {props.email} has an account and its address is verified, a link is on its way.
      </Empty>
    )
  return (
    <GateForm label="Reset the password" submit="Send the link" onSubmit={props.onSubmit}>
      <TextField
        class="input gate-input"
        label="E-mail"
        name="email"
        type="email"
        autocomplete="username"
        autofocus
        required
        maxLength={254}
        value={props.email}
        onInput={props.onInput}
      />
    </GateForm>
  )
}
