/** Alert settings: where alerts are sent and which ones. */
import { useSignal } from '@preact/signals'
import type { AlertSettingsView } from '@strongroom/ferryhook/alerts/routes'
import { useEffect } from 'preact/hooks'
import type { z } from 'zod'
import { messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { user } from '../../api/user-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { formatDuration } from '../../parts/format.ts'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { type Resource, useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { guardLeaving } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { useKeys } from '../../shell/keyboard.ts'
import { showToast } from '../../shell/toasts.tsx'
import { RotateDialog } from './rotate-dialog.tsx'

export type Alerts = z.infer<typeof AlertSettingsView>
type Kind = Alerts['kinds'][number]

interface TestResult {
  ok: boolean
  reason: string
  statusCode: number
  latencyMs: number
}

const PATH = '/ferryhook/v1/alerts'

const KINDS: Readonly<Record<Kind, readonly [name: string, when: string]>> = {
  'delivery.failed': ['Delivery failed', 'A delivery failed permanently, after all retries'],
  'connection.warning': ['Connection keeps failing', 'It will be paused if it does not recover'],
  'connection.paused': ['Connection paused', 'Ferryhook paused it; its events are held'],
  'connection.circuit_opened': ['Deliveries wait', 'Too many attempts in a row failed'],
  'connection.circuit_closed': ['Destination responds again', 'Deliveries continue'],
  'limit.reached': ['Limit reached', 'A limit of the plan was reached'],
}
const kinds = Object.keys(KINDS) as Kind[]

export default function AlertsPage() {
  const alerts = useResource((signal) => request<Alerts>('GET', PATH, { signal }))
  return (
    <>
      <Bar title="Alerts" />
      <main id="main">
        <Loaded resource={alerts} what="the alert settings">
          {(settings) => <AlertForm settings={settings} alerts={alerts} />}
        </Loaded>
      </main>
    </>
  )
}

function AlertForm({ settings, alerts }: { settings: Alerts; alerts: Resource<Alerts> }) {
  const isNew = settings.updatedAt === null
  const webhookUrl = useSignal(settings.webhookUrl ?? '')
  const email = useSignal(settings.email)
  const chosen = useSignal<readonly Kind[]>(isNew ? kinds : settings.kinds)
  const error = useSignal<unknown>(undefined)
  const secret = useSignal<string | undefined>(undefined)
  const isRotating = useSignal(false)

  const isChanged = () =>
    webhookUrl.value.trim() !== (settings.webhookUrl ?? '') ||
    email.value !== settings.email ||
    (!isNew && kinds.some((kind) => chosen.value.includes(kind) !== settings.kinds.includes(kind)))
  useEffect(() => guardLeaving(isChanged), [settings])

  const save = async () => {
    error.value = undefined
    try {
      const json = {
        webhookUrl: webhookUrl.value.trim() === '' ? null : webhookUrl.value.trim(),
        email: email.value,
        kinds: chosen.value,
      }
      const { signingSecret, ...saved } = await request<Alerts & { signingSecret?: string }>(
        'PUT',
        PATH,
        { json },
      )
      alerts.set(saved)
      webhookUrl.value = saved.webhookUrl ?? ''
      secret.value = signingSecret
      showToast({ text: 'The alert settings are saved.' })
    } catch (failure) {
      error.value = failure
    }
  }
  useKeys([{ keys: 'Mod+s', label: 'Save', run: () => void save() }], [settings])

  const urlProblem = fieldProblem(error.value, 'webhookUrl')
  const isSilent = settings.webhookUrl === null && !settings.email
  return (
    <form
      class="page page-narrow"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {isSilent && (
        <p class="note">
          Nobody is told about failures yet. Enter the URL of a webhook, or choose e-mail.
        </p>
      )}
      {settings.failedAt !== null && (
        <p class="note note-bad" role="status">
          <Status status="failed">
            The last alert could not be delivered{' '}
            <RelativeTime time={settings.failedAt} suffix=" ago" /> (
            {settings.failure?.replace(/^http_/, 'status ').replaceAll('_', ' ')}). Test the webhook
            after you have fixed it.
          </Status>
        </p>
      )}
      <section class="panel" aria-labelledby="where">
        <div class="panel-head">
          <h2 id="where">Where alerts are sent</h2>
        </div>
        <div class="panel-body form">
          <TextField
            label="Webhook URL"
            hint="Alerts are signed like deliveries. Leave it empty to send none."
            type="url"
            class="input mono"
            placeholder="https://alerts.example.com/ferryhook"
            autocomplete="off"
            value={webhookUrl.value}
            problem={urlProblem}
            onInput={(value) => (webhookUrl.value = value)}
          />
          {settings.webhookUrl !== null && (
            <div class="buttons">
              <TestButton />
              <button class="button" type="button" onClick={() => (isRotating.value = true)}>
                <span>Rotate signing secret…</span>
              </button>
            </div>
          )}
          <div class="field">
            <label class="line-field">
              <input
                class="check"
                type="checkbox"
                checked={email.value}
                disabled={!settings.canEmail && !email.value}
                onChange={(event) => (email.value = event.currentTarget.checked)}
              />
              <span>Send mail to {user.value?.email ?? 'the address of the account'}</span>
            </label>
            {!settings.canEmail && <p class="hint">This server does not send mail.</p>}
          </div>
        </div>
      </section>
      <section class="panel" aria-labelledby="which">
        <div class="panel-head">
          <h2 id="which">Which alerts</h2>
          <p class="push">
            {chosen.value.length} of {kinds.length}
          </p>
        </div>
        <div class="panel-body checks">
          {kinds.map((kind) => (
            <label class="line-field" key={kind}>
              <input
                class="check"
                type="checkbox"
                checked={chosen.value.includes(kind)}
                onChange={(event) => {
                  const isOn = event.currentTarget.checked
                  chosen.value = kinds.filter((each) =>
                    each === kind ? isOn : chosen.value.includes(each),
                  )
                }}
              />
              <span>
                <span class="strong">{KINDS[kind][0]}</span>{' '}
                <span class="soft small">{KINDS[kind][1]}</span>{' '}
                <code class="faint code-word hide-small">{kind}</code>
              </span>
            </label>
          ))}
        </div>
      </section>
      {error.value !== undefined && urlProblem === undefined && (
        <Problem>{messageOf(error.value)}</Problem>
      )}
      <div class="buttons">
        <button class="button button-primary" type="submit" aria-disabled={!isChanged() && !isNew}>
          <span>Save alerts</span>
        </button>
      </div>
      {isRotating.value && (
        <RotateDialog
          onRotated={(rotated) => (secret.value = rotated)}
          onClose={() => (isRotating.value = false)}
        />
      )}
      {secret.value !== undefined && (
        <OnceSecretDialog
          title="Signing secret of alerts"
          text="Verify alerts with it, as you verify deliveries. Store it now: it is not shown again. If it is lost, rotate it."
          secret={secret.value}
          onClose={() => (secret.value = undefined)}
        />
      )}
    </form>
  )
}

function TestButton() {
  const test = async () => {
    const { ok, reason, statusCode, latencyMs } = await request<TestResult>('POST', `${PATH}/test`)
    const took = formatDuration(latencyMs)
    if (ok) showToast({ text: `The webhook responded ${statusCode} in ${took}.` })
    else {
      const what =
        statusCode === 0 ? reason.replaceAll('_', ' ') : `status ${statusCode} in ${took}`
      showToast({ text: `The test alert was not delivered: ${what}.`, tone: 'bad' })
    }
  }
  return (
    <ActionButton run={test}>
      <span>Send test alert</span>
    </ActionButton>
  )
}
