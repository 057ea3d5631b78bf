/** Changes of a site: each names its consequences, takes a reason, and has a command that does the same. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import {
  type LimitState,
  limits,
  type OperatorSite,
  type SiteAction,
  sites,
} from '../../api/form-bridge.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'

const MAX_REASON_LENGTH = 500

interface Words {
  title: (name: string) => string
  confirm: string
  keep: string
  consequences: readonly string[]
  isDestructive: boolean
}

const WORDS: Record<SiteAction, Words> = {
  suspend: {
    title: (name) => `Suspend ${name}?`,
    confirm: 'Suspend',
    keep: 'Keep active',
    consequences: [
      'Requests are refused with 403 from the next one on; the site can still read its status.',
      'Submissions wait on the site and are sent after it is resumed.',
      'Keys, agency and destination stay.',
    ],
    isDestructive: false,
  },
  resume: {
    title: (name) => `Resume ${name}?`,
    confirm: 'Resume',
    keep: 'Keep suspended',
    consequences: ['Requests are accepted again, with the same keys.'],
    isDestructive: false,
  },
  confirm: {
    title: (name) => `Confirm ${name}?`,
    confirm: 'Confirm site',
    keep: 'Keep unconfirmed',
    consequences: [
      'You vouch that whoever reconnected the site is still its owner.',
      'Its agency and its destination apply to it again, and waiting submissions are sent.',
    ],
    isDestructive: false,
  },
  disable: {
    title: (name) => `Disable ${name} permanently?`,
    confirm: 'Disable site',
    keep: 'Keep site',
    consequences: [
      'Its keys end immediately; its requests are refused.',
      'Submissions that wait on the site stay there and are not sent.',
      'It leaves its agency and releases its domain.',
      'This cannot be undone. The domain can be connected again as a new site.',
    ],
    isDestructive: true,
  },
}

/** Asks for a reason; for what cannot be undone also for the domain. */
export function ReasonDialog(props: {
  action: SiteAction
  /** A domain, or a number of sites. */
  name: string
  /** For the command beside the button. */
  siteId?: string
  typeName?: string
  onConfirm: (reason: string) => Promise<void>
  onClose: () => void
}) {
  const { action, name, siteId, typeName } = props
  const words = WORDS[action]
  const reason = useSignal('')
  const typed = useSignal('')
  const isBusy = useSignal(false)
  const error = useSignal<unknown>(undefined)
  const isReady = typeName === undefined || typed.value.trim() === typeName
  const confirm = async () => {
    if (!isReady || isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      await props.onConfirm(reason.value.trim())
      props.onClose()
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  const option = reason.value.trim() === '' ? '' : ` --reason ${quote(reason.value.trim())}`
  return (
    <Dialog
      title={words.title(name)}
      onClose={props.onClose}
      onSubmit={() => void confirm()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>{words.keep}</span>
          </button>
          <button
            class={`button ${words.isDestructive ? 'button-destroy' : 'button-primary'}`}
            type="submit"
            disabled={!isReady || isBusy.value}
          >
            <span>{words.confirm}</span>
          </button>
        </>
      }
    >
      <ul class="does">
        {words.consequences.map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <TextField
        label="Reason"
        hint="For the history of the site and the audit log. Optional."
        maxLength={MAX_REASON_LENGTH}
        value={reason.value}
        onInput={(value) => (reason.value = value)}
        problem={fieldProblem(error.value, 'reason')}
      />
      {typeName !== undefined && (
        <TextField
          label="Type the domain to continue"
          class="input mono"
          placeholder={typeName}
          autocomplete="off"
          spellcheck={false}
          value={typed.value}
          onInput={(value) => (typed.value = value)}
        />
      )}
      {siteId !== undefined && <Command text={`strongroom sites ${action} ${siteId}${option}`} />}
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}

/** For a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

const NAMES = { minute: 'Per minute', minutes: 'In five minutes', hour: 'Per hour', day: 'Per day' }

/** Sets or removes the limits of one site or address. */
export function LimitDialog(props: {
  scope: string
  id: string
  name: string
  onClose: () => void
  onDone: () => void
}) {
  const { scope, id } = props
  const state = useResource((abort) => limits.state(scope, id, abort))
  return (
    <Loaded resource={state} what="limits">
      {(found) => <LimitForm {...props} state={found} />}
    </Loaded>
  )
}

function LimitForm(props: {
  scope: string
  id: string
  name: string
  state: LimitState
  onClose: () => void
  onDone: () => void
}) {
  const { scope, id, name, state } = props
  const values = useSignal<Record<string, string>>(
    Object.fromEntries(
      state.limits.map((limit) => [limit.name, String(state.override?.[limit.name] ?? '')]),
    ),
  )
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const entered = Object.entries(values.value).filter(([, value]) => value.trim() !== '')
  const isValid = entered.every(([, value]) => /^[1-9]\d{0,7}$/.test(value.trim()))
  const canSet = isValid && entered.length > 0
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      await work()
      props.onDone()
      props.onClose()
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  const set = () =>
    run(() =>
      limits.set(
        scope,
        id,
        Object.fromEntries(entered.map(([key, value]) => [key, Number(value)])),
      ),
    )
  const options = entered.map(([key, value]) => ` --${key} ${value.trim()}`).join('')
  return (
    <Dialog
      title={`Limits of ${name}`}
      onClose={props.onClose}
      onSubmit={() => canSet && void set()}
      foot={
        <>
          {state.override && (
            <button
              class="button button-danger"
              type="button"
              onClick={() => void run(() => limits.remove(scope, id))}
            >
              <span>Remove override</span>
            </button>
          )}
          <button class="button" type="button" onClick={props.onClose}>
            <span>Keep limits</span>
          </button>
          <button class="button button-primary" type="submit" disabled={!canSet || isBusy.value}>
            <span>Set limits</span>
          </button>
        </>
      }
    >
      <p>
        Requests of the kind <b class="mono">{scope}</b>. An empty field keeps the default. Changes
        apply within five seconds.
      </p>
      {state.limits.map((limit) => (
        <TextField
          key={limit.name}
          label={NAMES[limit.name as keyof typeof NAMES] ?? limit.name}
          inputMode="numeric"
          placeholder={String(limit.limit)}
          value={values.value[limit.name] ?? ''}
          onInput={(value) => (values.value = { ...values.value, [limit.name]: value })}
          problem={
            isValid || /^(?:[1-9]\d{0,7})?$/.test(values.value[limit.name]?.trim() ?? '')
              ? undefined
              : 'Enter a whole number from 1 to 10,000,000'
          }
        />
      ))}
      <Command text={`strongroom rate-limits set ${scope} ${id}${options || ' --minute …'}`} />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}

/** Sets or removes where the submissions of a site go. What is set is never shown. */
export function DestinationDialog(props: {
  site: OperatorSite
  onClose: () => void
  onDone: () => void
}) {
  const { site } = props
  const url = useSignal('')
  const secret = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      await work()
      props.onDone()
      props.onClose()
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  const canSet = url.value.trim() !== ''
  const set = () =>
    run(() =>
      sites.setDestination(site.site_id, {
        url: url.value.trim(),
        ...(secret.value !== '' && { secret: secret.value }),
      }),
    )
  return (
    <Dialog
      title={`Destination of ${site.domain}`}
      onClose={props.onClose}
      onSubmit={() => canSet && void set()}
      foot={
        <>
          {site.has_destination && (
            <button
              class="button button-danger"
              type="button"
              onClick={() => void run(() => sites.removeDestination(site.site_id))}
            >
              <span>Remove</span>
            </button>
          )}
          <button class="button" type="button" onClick={props.onClose}>
            <span>Keep as it is</span>
          </button>
          <button class="button button-primary" type="submit" disabled={!canSet || isBusy.value}>
            <span>Set destination</span>
          </button>
        </>
      }
    >
      <ul class="does">
        <li>From the next submission on, everything this site sends goes to the new address.</li>
        <li>Address and secret are stored encrypted and never shown again.</li>
        {site.has_destination && <li>The present destination of the site is replaced.</li>}
      </ul>
      <TextField
        label="Address"
        type="url"
        placeholder="https://forms.example.com/in/src_…"
        value={url.value}
        onInput={(value) => (url.value = value)}
        problem={fieldProblem(error.value, 'url')}
      />
      <TextField
        label="Signing secret"
        hint="Signs submissions as Standard Webhooks. Optional."
        type="password"
        autocomplete="off"
        placeholder="whsec_…"
        value={secret.value}
        onInput={(value) => (secret.value = value)}
        problem={fieldProblem(error.value, 'secret')}
      />
      <Command
        text={`strongroom sites destination ${site.site_id} ${url.value.trim() || 'https://…'} --secret-file whsec.txt`}
      />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
