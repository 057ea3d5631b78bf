/** Identities at GitHub and Google that sign in to the account, and what a password reset left to confirm. */
import { useSignal } from '@preact/signals'
import { hasCode, messageOf } from '../../api/errors.ts'
import { request } from '../../api/request.ts'
import { type User, user } from '../../api/user-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { showToast } from '../../shell/toasts.tsx'

type Provider = 'github' | 'google'

interface Identity {
  provider: Provider
  configured: boolean
  linkedAt: string | null
}

interface Unconfirmed {
  since: string | null
  apiKeys: { id: string; name: string }[]
  identities: Provider[]
}

const NAMES = { github: 'GitHub', google: 'Google' } as const
const PATH = '/ferryhook/v1/auth/identities'

export function Identities() {
  const identities = useResource((signal) =>
    request<{ items: Identity[] }>('GET', PATH, { signal }),
  )
  const removing = useSignal<Provider | undefined>(undefined)
  const link = async (provider: Provider) => {
    const { url } = await request<{ url: string }>('POST', `${PATH}/${provider}`)
    location.assign(url)
  }
  return (
    <>
      <ToConfirm />
      <section class="panel">
        <div class="panel-head">
          <h2>Identities</h2>
          <p>Ways to sign in without a password.</p>
        </div>
        <Loaded resource={identities} what="identities">
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="This server offers no providers">
                Its operator can configure GitHub and Google. You sign in with your password.
              </Empty>
            ) : (
              <ul class="account-list">
                {items.map(({ provider, configured, linkedAt }) => (
                  <li class="account-row" key={provider}>
                    <div class="account-main">
                      <span class="strong">{NAMES[provider]}</span>
                      <p class="faint small">
                        {linkedAt === null ? (
                          'Not linked'
                        ) : (
                          <>
                            Linked <RelativeTime time={linkedAt} suffix=" ago" />
                            {!configured && ' · this server no longer offers it'}
                          </>
                        )}
                      </p>
                    </div>
                    {linkedAt === null ? (
                      <ActionButton small run={() => link(provider)}>
                        <span>Link {NAMES[provider]}</span>
                      </ActionButton>
                    ) : (
                      <ActionButton small run={() => void (removing.value = provider)}>
                        <span>Unlink {NAMES[provider]}…</span>
                      </ActionButton>
                    )}
                  </li>
                ))}
              </ul>
            )
          }
        </Loaded>
      </section>
      {removing.value && (
        <Unlink
          provider={removing.value}
          onClose={() => (removing.value = undefined)}
          onDone={() => identities.reload()}
        />
      )}
    </>
  )
}

function Unlink(props: { provider: Provider; onClose: () => void; onDone: () => void }) {
  const name = NAMES[props.provider]
  return (
    <ConfirmDialog
      title={`Unlink ${name}`}
      confirm={`Unlink ${name}`}
      keep={`Keep ${name}`}
      consequences={[`${name} no longer signs in to this account`, 'You can link it again later']}
      onClose={props.onClose}
      onConfirm={async () => {
        try {
          user.value = await request<User>('DELETE', `${PATH}/${props.provider}`)
        } catch (error) {
          if (!hasCode(error, 'ferryhook.only_sign_in')) throw error
          throw new Error(messageOf(error), { cause: error })
        }
        showToast({ text: `${name} was unlinked` })
        props.onDone()
      }}
    />
  )
}

/** API keys and identities from before a password reset: whoever had the old password may have made them. */
function ToConfirm() {
  const path = '/ferryhook/v1/account/unconfirmed-credentials'
  const found = useResource((signal) => request<Unconfirmed>('GET', path, { signal }))
  const revoked = useSignal<readonly string[]>([])
  const data = found.data.value
  if (!data || data.since === null) return null
  const toggle = (id: string, on: boolean) => {
    revoked.value = on ? [...revoked.value, id] : revoked.value.filter((each) => each !== id)
  }
  const entries = [
    ...data.apiKeys.map(({ id, name }) => ({ id, label: `API key ${name}` })),
    ...data.identities.map((id) => ({ id: id as string, label: NAMES[id] })),
  ]
  const confirm = async () => {
    const isRevoked = (id: string) => revoked.value.includes(id)
    await request('POST', `${path}/confirm`, {
      json: {
        revokeApiKeys: data.apiKeys.map(({ id }) => id).filter(isRevoked),
        revokeIdentities: data.identities.filter(isRevoked),
      },
    })
    showToast({ text: 'Confirmed' })
    found.reload()
  }
  return (
    <section class="panel">
      <div class="panel-head">
        <h2>From before the password reset</h2>
        <p>These still work. Revoke what you do not recognise.</p>
      </div>
      <ul class="account-list">
        {entries.map(({ id, label }) => (
          <li class="account-row" key={id}>
            <label class="line-field">
              <input
                type="checkbox"
                checked={revoked.value.includes(id)}
                onChange={(event) => toggle(id, event.currentTarget.checked)}
              />
              <span>Revoke {label}</span>
            </label>
          </li>
        ))}
      </ul>
      <div class="panel-foot">
        <ActionButton look="primary" run={confirm}>
          <span>{revoked.value.length === 0 ? 'Confirm all' : 'Revoke and confirm the rest'}</span>
        </ActionButton>
      </div>
    </section>
  )
}
