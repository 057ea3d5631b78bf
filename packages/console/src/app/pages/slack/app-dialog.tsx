/** Adds a Slack app, or changes where its requests go. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { addApp, changeApp, type SlackApp } from './api.ts'

export function AppDialog(props: {
  /** The app to change; without it, one is added. */
  app?: SlackApp
  onClose: () => void
  onSaved: (app: SlackApp) => void
}) {
  const { app, onClose, onSaved } = props
  const name = useSignal(app?.name ?? '')
  const appId = useSignal(app?.appId ?? '')
  const url = useSignal(app?.upstream.url ?? '')
  const secret = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const save = async () => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const saved = app
        ? await changeApp(app.name, {
            appId: appId.value === '' ? null : appId.value,
            upstream: { ...app.upstream, url: url.value },
          })
        : await addApp({
            name: name.value,
            ...(appId.value !== '' && { appId: appId.value }),
            signingSecret: secret.value,
            upstream: { url: url.value, kind: 'app' },
          })
      onClose()
      onSaved(saved)
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const problemOf = (field: string) => fieldProblem(error.value, field)
  const fields = ['name', 'appId', 'signingSecret', 'upstream.url']
  const isNamed = fields.some((field) => problemOf(field) !== undefined)
  return (
    <Dialog
      title={app ? `Change ${app.name}` : 'Add a Slack app'}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>{app ? 'Save changes' : 'Add app'}</span>
          </button>
        </>
      }
    >
      {!app && (
        <TextField
          label="Name"
          value={name.value}
          onInput={(value) => (name.value = value.trim())}
          hint="Lower-case letters, digits and hyphens; it is part of the request URL"
          problem={problemOf('name')}
          autocomplete="off"
          placeholder="deploy-bot"
          required
        />
      )}
      <TextField
        label="Upstream"
        type="url"
        value={url.value}
        onInput={(value) => (url.value = value.trim())}
        hint={
          app
            ? 'Verified requests go here from now on; other servers follow within ten seconds'
            : 'Where verified requests go'
        }
        problem={problemOf('upstream.url')}
        placeholder="https://bot.example.com/slack/events"
        required
      />
      <TextField
        label="App id at Slack"
        class="input mono"
        value={appId.value}
        onInput={(value) => (appId.value = value.trim())}
        hint="Optional. Requests that name another app are rejected."
        problem={problemOf('appId')}
        autocomplete="off"
        placeholder="A00000001"
      />
      {!app && (
        <TextField
          label="Signing secret"
          class="input mono"
          type="password"
          value={secret.value}
          onInput={(value) => (secret.value = value.trim())}
          hint="From the app's page at Slack. It is stored encrypted and never shown."
          problem={problemOf('signingSecret')}
          autocomplete="off"
          required
        />
      )}
      {error.value !== undefined && !isNamed && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
