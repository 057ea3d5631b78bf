/** The second factor of the account: authenticator app, passkeys and recovery codes. */
import { useSignal } from '@preact/signals'
import type { z } from 'zod'
import type { SecondFactorView } from '@strongroom/ferryhook/accounts/second-factor/view'
import { request } from '../../api/request.ts'
import { user } from '../../api/user-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { formatCount } from '../../parts/format.ts'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { AppSetup } from './app-setup.tsx'
import { ConfirmIdentity, type Confirmation } from './confirm-identity.tsx'
import { PasskeySetup } from './passkey-setup.tsx'
import { RecoveryCodes } from '../../parts/second-factor/recovery-codes.tsx'

type Factors = z.infer<typeof SecondFactorView>

/** What a dialog is about; each begins with a confirmation. */
type Open =
  | { kind: 'app' | 'passkey' }
  | { kind: 'remove'; what: string; path: string }
  | { kind: 'replace-codes' }

const FACTOR_PATH = '/ferryhook/v1/account/second-factor'

export function Security() {
  const factors = useResource((signal) => request<Factors>('GET', FACTOR_PATH, { signal }))
  const open = useSignal<Open | undefined>(undefined)
  const codes = useSignal<readonly string[] | undefined>(undefined)
  const close = () => {
    open.value = undefined
    factors.reload()
  }
  const enrolled = (recoveryCodes: readonly string[] | null) => {
    close()
    if (recoveryCodes) codes.value = recoveryCodes
    else showToast({ text: 'The second factor was added' })
  }
  const confirmed = async (confirmation: Confirmation) => {
    const { value } = open
    if (value?.kind === 'remove') {
      await request('POST', FACTOR_PATH + value.path, { json: confirmation })
      showToast({ text: `${value.what} was removed` })
    } else {
      const path = `${FACTOR_PATH}/recovery-codes`
      const made = await request<{ recoveryCodes: string[] }>('POST', path, { json: confirmation })
      codes.value = made.recoveryCodes
    }
    close()
  }
  return (
    <Loaded resource={factors} what="second factors">
      {(data) => (
        <>
          <Methods data={data} onOpen={(what) => (open.value = what)} />
          {open.value?.kind === 'app' && (
            <AppSetup isEnabled={data.enabled} onClose={close} onDone={enrolled} />
          )}
          {open.value?.kind === 'passkey' && (
            <PasskeySetup isEnabled={data.enabled} onClose={close} onDone={enrolled} />
          )}
          {open.value?.kind === 'remove' && (
            <ConfirmIdentity
              title={`Remove ${open.value.what.toLowerCase()}`}
              submit="Remove"
              isDestructive
              isEnabled={data.enabled}
              onClose={close}
              onConfirm={confirmed}
            >
              <p>
                {isLast(data)
                  ? 'This is your last factor: your password alone signs in afterwards, and the recovery codes are deleted.'
                  : 'Your other factors keep protecting the account.'}
              </p>
            </ConfirmIdentity>
          )}
          {open.value?.kind === 'replace-codes' && (
            <ConfirmIdentity
              title="Replace recovery codes"
              submit="Replace codes"
              isEnabled={data.enabled}
              onClose={close}
              onConfirm={confirmed}
            >
              <p>The codes that you stored before become invalid.</p>
            </ConfirmIdentity>
          )}
          {codes.value && (
            <RecoveryCodes
              codes={codes.value}
              account={user.value?.email ?? ''}
              onClose={() => (codes.value = undefined)}
            />
          )}
        </>
      )}
    </Loaded>
  )
}

function isLast({ totp, passkeys }: Factors): boolean {
  return passkeys.length + (totp ? 1 : 0) === 1
}

function Methods({ data, onOpen }: { data: Factors; onOpen: (what: Open) => void }) {
  const { enabled, totp, passkeys, recoveryCodesLeft, canUsePasskeys } = data
  return (
    <>
      <section class="panel">
        <div class="panel-head">
          <h2>Second factor</h2>
          <Status status={enabled ? 'enabled' : 'disabled'} look="badge" />
        </div>
        <div class="panel-body">
          <p class="panel-note">
            {enabled
              ? 'Signing in asks for one of these, also through a provider. API keys are not affected.'
              : 'Whoever learns your password can sign in. With a second factor, that is not enough.'}
          </p>
        </div>
        <ul class="account-list">
          <li class="account-row">
            <div class="account-main">
              <span class="strong">Authenticator app</span>
              <p class="faint small">
                {totp ? (
                  <>
                    Added <RelativeTime time={totp.createdAt} suffix=" ago" />
                  </>
                ) : (
                  'Codes of six digits from an app on your phone'
                )}
              </p>
            </div>
            <ActionButton small run={() => onOpen({ kind: 'app' })}>
              <span>{totp ? 'Replace app…' : 'Set up app…'}</span>
            </ActionButton>
            {totp && (
              <ActionButton
                small
                run={() =>
                  onOpen({ kind: 'remove', what: 'The authenticator app', path: '/totp/remove' })
                }
                label="Remove the authenticator app"
              >
                <span>Remove…</span>
              </ActionButton>
            )}
          </li>
          {passkeys.map((passkey) => (
            <li class="account-row" key={passkey.id}>
              <div class="account-main">
                <span class="strong">Passkey “{passkey.name}”</span>
                <p class="faint small">
                  Added <RelativeTime time={passkey.createdAt} suffix=" ago" />
                  {passkey.lastUsedAt !== null && (
                    <>
                      {' '}
                      · used <RelativeTime time={passkey.lastUsedAt} suffix=" ago" />
                    </>
                  )}
                  {passkey.synced && ' · on all your devices'}
                </p>
              </div>
              <ActionButton
                small
                run={() =>
                  onOpen({
                    kind: 'remove',
                    what: `The passkey “${passkey.name}”`,
                    path: `/passkeys/${encodeURIComponent(passkey.id)}/remove`,
                  })
                }
                label={`Remove the passkey ${passkey.name}`}
              >
                <span>Remove…</span>
              </ActionButton>
            </li>
          ))}
          <li class="account-row">
            <div class="account-main">
              <span class="strong">{passkeys.length === 0 ? 'Passkeys' : 'Another passkey'}</span>
              <p class="faint small">
                {canUsePasskeys
                  ? 'A fingerprint, face or PIN of a device, or a security key'
                  : 'Browsers allow them on https with a host name, and on localhost'}
              </p>
            </div>
            <ActionButton
              small
              run={() => onOpen({ kind: 'passkey' })}
              notAllowed={
                canUsePasskeys ? undefined : 'The server needs an https address with a host name'
              }
            >
              <span>Add passkey…</span>
            </ActionButton>
          </li>
        </ul>
      </section>
      {enabled && (
        <section class="panel">
          <div class="panel-head">
            <h2>Recovery codes</h2>
          </div>
          <div class="account-row">
            <div class="account-main">
              <span class="strong">{formatCount(recoveryCodesLeft, 'code')} left</span>
              <p class="faint small">Each signs in once if you lose your factors.</p>
            </div>
            <ActionButton small run={() => onOpen({ kind: 'replace-codes' })}>
              <span>Replace codes…</span>
            </ActionButton>
          </div>
        </section>
      )}
    </>
  )
}
