/** Replaces the signing secret of an app. The old one ends immediately unless it is kept for a day. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { rotateSecret } from './api.ts'

const DAY_SECONDS = 86_400

export function RotateDialog(props: { app: string; onClose: () => void; onRotated: () => void }) {
  const { app, onClose, onRotated } = props
  const secret = useSignal('')
  const isKept = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const save = async () => {
    if (isBusy.value || secret.value === '') return
    isBusy.value = true
    error.value = undefined
    try {
      const overlapSeconds = isKept.value ? DAY_SECONDS : 0
      await rotateSecret(app, { signingSecret: secret.value, overlapSeconds })
      onClose()
      onRotated()
      showToast({
        text: isKept.value
          ? 'The secret is replaced. The old one is valid for 24 more hours.'
          : 'The secret is replaced. The old one is no longer valid.',
      })
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const problem = fieldProblem(error.value, 'signingSecret')
  return (
    <Dialog
      title={`Rotate the signing secret of ${app}`}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Rotate secret</span>
          </button>
        </>
      }
    >
      <TextField
        label="New signing secret"
        class="input mono"
        type="password"
        value={secret.value}
        onInput={(value) => (secret.value = value.trim())}
        hint="From the app's page at Slack. It is stored encrypted and never shown."
        problem={problem}
        autocomplete="off"
        required
      />
      <label class="line-field">
        <input
          class="check"
          type="checkbox"
          checked={isKept.value}
          onChange={(event) => (isKept.value = event.currentTarget.checked)}
        />
        <span>
          Keep the old secret valid for 24 hours. Not after a leak: whoever has it can sign
          requests.
        </span>
      </label>
      <p>Other servers of this deployment follow within ten seconds.</p>
      <Command
        text={`strongroom slack secret rotate ${app}${isKept.value ? ' --overlap 24h' : ''}`}
      />
      {error.value !== undefined && problem === undefined && (
        <Problem>{messageOf(error.value)}</Problem>
      )}
    </Dialog>
  )
}
