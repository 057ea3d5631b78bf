/** Sets the bot token of a workspace. It is never shown again. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { setToken } from './api.ts'

export function TokenDialog(props: {
  app: string
  team?: string | undefined
  onClose: () => void
  onSet: () => void
}) {
  const { app, onClose, onSet } = props
  const team = useSignal(props.team ?? '')
  const token = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const save = async () => {
    if (isBusy.value || team.value === '' || token.value === '') return
    isBusy.value = true
    error.value = undefined
    try {
      const { missingScopes } = await setToken(app, team.value, token.value)
      onSet()
      onClose()
      showToast(
        missingScopes.length === 0
          ? { text: `The token of ${team.value} is stored` }
          : {
              text: `The token is stored. It lacks ${missingScopes.join(', ')}: requests of some conversations cannot be verified.`,
              tone: 'warn',
            },
      )
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const known = ['team', 'token'].some((name) => fieldProblem(error.value, name) !== undefined)
  return (
    <Dialog
      title="Set a bot token"
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>{isBusy.value ? 'Asking Slack…' : 'Set token'}</span>
          </button>
        </>
      }
    >
      <TextField
        label="Team"
        class="input mono"
        value={team.value}
        onInput={(value) => (team.value = value.trim())}
        hint="The id of the workspace (T…), or of the organisation (E…)"
        problem={fieldProblem(error.value, 'team')}
        autocomplete="off"
        required
      />
      <TextField
        label="Bot token"
        class="input mono"
        type="password"
        value={token.value}
        onInput={(value) => (token.value = value.trim())}
        hint="xoxb-…, from the app's page at Slack. Slack is asked whose it is; then it is stored encrypted and never shown."
        problem={fieldProblem(error.value, 'token')}
        autocomplete="off"
        required
      />
      <Command text={`strongroom slack token set ${app} ${team.value || 'TEAM'}`} />
      {error.value !== undefined && !known && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
