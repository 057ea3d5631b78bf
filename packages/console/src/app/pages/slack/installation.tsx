/** “Add to Slack”: how workspaces install an app through this server. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { setInstallation, type SlackApp } from './api.ts'

export function InstallationPanel({ app, onChange }: { app: SlackApp; onChange: () => void }) {
  const { installation } = app
  return (
    <section class="panel" aria-labelledby="h-installation">
      <div class="panel-head">
        <h2 id="h-installation">Installation</h2>
        <span class="push" />
        <ActionButton small notAllowed={missingRole('admin', 'two-key')} run={onChange}>
          <span>{installation ? 'Change installation…' : 'Set up…'}</span>
        </ActionButton>
      </div>
      <div class="panel-body form">
        {installation ? (
          <>
            <p>
              <a class="button" href={installation.installUrl} target="_blank" rel="noreferrer">
                <span>Add to Slack</span>
              </a>
            </p>
            <div class="field">
              <span class="label">Link for workspaces that install the app</span>
              <Command text={installation.installUrl} plain />
            </div>
            <div class="field">
              <span class="label">Redirect URL, to add at Slack</span>
              <Command text={installation.redirectUrl} plain />
            </div>
            <dl class="facts">
              <dt>Client id</dt>
              <dd class="mono">{installation.clientId}</dd>
              <dt>Bot scopes</dt>
              <dd class="mono">{installation.scopes.join(' ')}</dd>
            </dl>
          </>
        ) : (
          <>
            <p>
              With the app’s client id and secret, workspaces install it by a link, and their tokens
              are stored here without anybody seeing them.
            </p>
            <Command text={`strongroom slack app change ${app.name} --client-id ID`} />
          </>
        )}
      </div>
    </section>
  )
}

export function InstallationDialog(props: {
  app: SlackApp
  onClose: () => void
  onSaved: () => void
}) {
  const { app, onClose, onSaved } = props
  const known = app.installation
  const clientId = useSignal(known?.clientId ?? '')
  const clientSecret = useSignal('')
  const scopes = useSignal((known?.scopes ?? []).join(' '))
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const save = async (isEnded: boolean) => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      await setInstallation(
        app.name,
        isEnded
          ? null
          : {
              clientId: clientId.value,
              ...(clientSecret.value !== '' && { clientSecret: clientSecret.value }),
              scopes: scopes.value.split(/[\s,]+/).filter((scope) => scope !== ''),
            },
      )
      onClose()
      onSaved()
      showToast({
        text: isEnded ? 'The app can no longer be installed here' : 'Installation is set up',
      })
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const problemOf = (field: string) => fieldProblem(error.value, `installation.${field}`)
  const isNamed = ['clientId', 'clientSecret', 'scopes'].some((name) => problemOf(name))
  return (
    <Dialog
      title={`Installation of ${app.name}`}
      onClose={onClose}
      onSubmit={() => void save(false)}
      foot={
        <>
          {known && (
            <button
              class="button button-danger"
              type="button"
              aria-disabled={isBusy.value}
              onClick={() => void save(true)}
            >
              <span>End installation</span>
            </button>
          )}
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Save</span>
          </button>
        </>
      }
    >
      <TextField
        label="Client id"
        class="input mono"
        value={clientId.value}
        onInput={(value) => (clientId.value = value.trim())}
        hint="From the app's page at Slack"
        problem={problemOf('clientId')}
        autocomplete="off"
        required
      />
      <TextField
        label="Client secret"
        class="input mono"
        type="password"
        value={clientSecret.value}
        onInput={(value) => (clientSecret.value = value.trim())}
        hint={
          known ? 'Leave it empty to keep the stored one' : 'It is stored encrypted and never shown'
        }
        problem={problemOf('clientSecret')}
        autocomplete="off"
        required={!known}
      />
      <TextField
        label="Bot scopes"
        class="input mono"
        value={scopes.value}
        onInput={(value) => (scopes.value = value)}
        hint="What the app needs, such as chat:write commands. Those that Two-key needs are added."
        problem={problemOf('scopes')}
        autocomplete="off"
        placeholder="chat:write commands"
      />
      {known && <p>Ending it keeps the tokens of workspaces that installed the app.</p>}
      {error.value !== undefined && !isNamed && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
