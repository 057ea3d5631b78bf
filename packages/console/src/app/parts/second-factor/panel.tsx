/** The second factors of somebody: set up, rename, remove. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { showToast } from '../../shell/toasts.tsx'
import { ActionButton } from '../action-button.tsx'
import { ConfirmDialog } from '../dialog.tsx'
import { Icon } from '../icon.tsx'
import { Status } from '../status.tsx'
import { RelativeTime } from '../time.tsx'
import type { Enrolment, SecondFactorApi, SecondFactors } from './api.ts'
import { PasskeyDialog } from './passkey-dialog.tsx'
import { RecoveryCodes } from './recovery-codes.tsx'
import { TotpDialog } from './totp-dialog.tsx'

type Passkey = SecondFactors['passkeys'][number]

type Open =
  | { kind: 'totp'; setup: { secret: string; uri: string } }
  | { kind: 'passkey'; options: unknown }
  | { kind: 'rename' | 'remove-passkey'; passkey: Passkey }
  | { kind: 'remove-totp' | 'replace-codes' }

export function SecondFactorPanel(props: {
  factors: SecondFactors
  api: SecondFactorApi
  /** Whose they are, for the file with the recovery codes. */
  account: string
  /** After each change. */
  onChanged: () => void
}) {
  const { factors, api, onChanged } = props
  const open = useSignal<Open | undefined>(undefined)
  const codes = useSignal<readonly string[] | undefined>(undefined)
  const close = () => (open.value = undefined)
  const added = (text: string) => (enrolment: Enrolment) => {
    if (enrolment.recoveryCodes) codes.value = enrolment.recoveryCodes
    else showToast({ text })
    onChanged()
  }
  const isLast = (factors.totp ? 1 : 0) + factors.passkeys.length === 1
  return (
    <section class="panel" aria-labelledby="second-factor">
      <div class="panel-head">
        <h2 id="second-factor">Second factor</h2>
        {factors.isEnrolled ? (
          <Status status="enabled" />
        ) : (
          <Status status="disabled">Not set up</Status>
        )}
      </div>
      <ul class="factors">
        <Factor
          icon="clock"
          name="Authenticator app"
          note={
            factors.totp ? (
              <>
                Added <RelativeTime time={factors.totp.createdAt} suffix=" ago" />
              </>
            ) : (
              'A code of six digits, new every 30 seconds'
            )
          }
        >
          <ActionButton
            small
            run={async () => {
              open.value = { kind: 'totp', setup: await api.startTotp() }
            }}
          >
            <span>{factors.totp ? 'Replace app…' : 'Set up app…'}</span>
          </ActionButton>
          {factors.totp && (
            <button
              class="button button-small button-danger"
              type="button"
              aria-label="Remove authenticator app…"
              onClick={() => (open.value = { kind: 'remove-totp' })}
            >
              <span>Remove…</span>
            </button>
          )}
        </Factor>
        {factors.passkeys.map((passkey) => (
          <Factor
            icon="key"
            key={passkey.id}
            name={passkey.name}
            note={
              <>
                Passkey{passkey.isSynced ? ', synced' : ''} · added{' '}
                <RelativeTime time={passkey.createdAt} suffix=" ago" /> ·{' '}
                {passkey.lastUsedAt === null ? (
                  'never used'
                ) : (
                  <>
                    last used <RelativeTime time={passkey.lastUsedAt} suffix=" ago" />
                  </>
                )}
              </>
            }
          >
            <button
              class="button button-small"
              type="button"
              aria-label={`Rename ${passkey.name}…`}
              onClick={() => (open.value = { kind: 'rename', passkey })}
            >
              <span>Rename…</span>
            </button>
            <button
              class="button button-small button-danger"
              type="button"
              aria-label={`Remove ${passkey.name}…`}
              onClick={() => (open.value = { kind: 'remove-passkey', passkey })}
            >
              <span>Remove…</span>
            </button>
          </Factor>
        ))}
        <Factor
          icon="key"
          name={factors.passkeys.length === 0 ? 'Passkeys' : 'Another passkey'}
          note={
            factors.canUsePasskeys
              ? 'This device, a telephone or a security key, with a fingerprint, face or PIN'
              : 'Browsers allow passkeys on https with a host name, and on localhost'
          }
        >
          <ActionButton
            small
            notAllowed={
              factors.canUsePasskeys
                ? undefined
                : 'Browsers allow passkeys on https with a host name, and on localhost. Set PUBLIC_URL to such an address.'
            }
            run={async () => {
              open.value = { kind: 'passkey', options: await api.passkeyOptions() }
            }}
          >
            <span>Add passkey…</span>
          </ActionButton>
        </Factor>
        <Factor
          icon="lock"
          name="Recovery codes"
          note={
            factors.isEnrolled
              ? `${factors.recoveryCodesLeft} of 10 left; each works once`
              : 'Ten codes that you get with the first factor'
          }
        >
          <ActionButton
            small
            notAllowed={factors.isEnrolled ? undefined : 'Add an app or a passkey first'}
            run={() => void (open.value = { kind: 'replace-codes' })}
          >
            <span>Replace codes…</span>
          </ActionButton>
        </Factor>
      </ul>
      <Dialogs
        open={open.value}
        api={api}
        isLast={isLast}
        added={added}
        onChanged={onChanged}
        close={close}
        show={(shown) => (codes.value = shown)}
      />
      {codes.value && open.value === undefined && (
        <RecoveryCodes
          codes={codes.value}
          account={props.account}
          onClose={() => (codes.value = undefined)}
        />
      )}
    </section>
  )
}

function Factor(props: {
  icon: 'clock' | 'key' | 'lock'
  name: string
  note: ComponentChildren
  children: ComponentChildren
}) {
  return (
    <li class="factor">
      <Icon name={props.icon} />
      <div class="factor-text">
        <b class="strong">{props.name}</b>
        <p class="soft small">{props.note}</p>
      </div>
      <div class="buttons">{props.children}</div>
    </li>
  )
}

/** With the last factor, signing in takes one step again. */
const LAST_REMOVED = [
  'It is your last second factor: signing in takes one step again.',
  'Your recovery codes become invalid.',
]

function Dialogs(props: {
  open: Open | undefined
  api: SecondFactorApi
  isLast: boolean
  added: (text: string) => (enrolment: Enrolment) => void
  onChanged: () => void
  close: () => void
  show: (codes: readonly string[]) => void
}) {
  const { open, api, isLast, added, onChanged, close } = props
  switch (open?.kind) {
    case undefined:
      return null
    case 'totp':
      return (
        <TotpDialog
          setup={open.setup}
          api={api}
          onAdded={added('The authenticator app is set up.')}
          onClose={close}
        />
      )
    case 'passkey':
      return (
        <PasskeyDialog
          title="Add a passkey"
          text="Your browser then asks where to store it, and for a fingerprint, face or PIN."
          submit="Create passkey"
          keep="Create nothing"
          name=""
          run={async (name) => {
            const { startRegistration } = await import('@simplewebauthn/browser')
            const response = await startRegistration({ optionsJSON: open.options as never })
            const enrolment = await api.addPasskey(name, response)
            added(`The passkey ${name} was added.`)(enrolment)
          }}
          onClose={close}
        />
      )
    case 'rename':
      return (
        <PasskeyDialog
          title={`Rename ${open.passkey.name}`}
          submit="Rename passkey"
          keep="Keep name"
          name={open.passkey.name}
          run={async (name) => {
            await api.renamePasskey(open.passkey.id, name)
            onChanged()
          }}
          onClose={close}
        />
      )
    case 'remove-passkey':
      return (
        <ConfirmDialog
          title={`Remove the passkey ${open.passkey.name}?`}
          confirm="Remove passkey"
          keep="Keep passkey"
          consequences={[
            'It no longer signs you in.',
            ...(isLast ? LAST_REMOVED : []),
            'The passkey stays on your device until you delete it there.',
          ]}
          onConfirm={async () => {
            await api.removePasskey(open.passkey.id)
            onChanged()
          }}
          onClose={close}
        />
      )
    case 'remove-totp':
      return (
        <ConfirmDialog
          title="Remove the authenticator app?"
          confirm="Remove app"
          keep="Keep app"
          consequences={['Its codes no longer sign you in.', ...(isLast ? LAST_REMOVED : [])]}
          onConfirm={async () => {
            await api.removeTotp()
            onChanged()
          }}
          onClose={close}
        />
      )
    case 'replace-codes':
      return (
        <ConfirmDialog
          title="Replace the recovery codes?"
          confirm="Replace codes"
          keep="Keep codes"
          isDestructive={false}
          consequences={['The old codes become invalid.', 'Ten new ones are shown once.']}
          onConfirm={async () => {
            const { recoveryCodes } = await api.replaceRecoveryCodes()
            props.show(recoveryCodes)
            onChanged()
          }}
          onClose={close}
        />
      )
  }
}
