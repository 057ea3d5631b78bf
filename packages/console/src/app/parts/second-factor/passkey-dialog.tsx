/** Names a passkey: before it is created, or to rename it. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { passkeyProblem } from '../../api/sign-in.ts'
import { Dialog } from '../dialog.tsx'
import { TextField } from '../field.tsx'

export function PasskeyDialog(props: {
  title: string
  text?: string
  submit: string
  keep: string
  name: string
  /** Creates or renames it. */
  run: (name: string) => Promise<void>
  onClose: () => void
}) {
  const name = useSignal(props.name)
  const isBusy = useSignal(false)
  const problem = useSignal<string | undefined>(undefined)
  const run = async () => {
    if (isBusy.value) return
    isBusy.value = true
    problem.value = undefined
    try {
      await props.run(name.value.trim())
      props.onClose()
    } catch (error) {
      problem.value = passkeyProblem(error) ?? messageOf(error)
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
            <span>{props.keep}</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>{props.submit}</span>
          </button>
        </>
      }
    >
      <div class="form">
        {props.text !== undefined && <p>{props.text}</p>}
        <TextField
          label="Name"
          hint="Where it is, such as Laptop or Security key"
          autofocus
          required
          maxLength={64}
          value={name.value}
          problem={problem.value}
          onInput={(value) => (name.value = value)}
        />
      </div>
    </Dialog>
  )
}
