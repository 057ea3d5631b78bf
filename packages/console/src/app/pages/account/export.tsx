/** The account as a file, and its deletion. */
import { useSignal } from '@preact/signals'
import { request, send } from '../../api/request.ts'
import { forgetSession, user } from '../../api/user-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/field.tsx'
import { navigate } from '../../router.ts'
import { showToast } from '../../shell/toasts.tsx'

export function Export() {
  const isDeleting = useSignal(false)
  return (
    <>
      <section class="panel">
        <div class="panel-head">
          <h2>Export</h2>
        </div>
        <div class="form panel-body">
          <p class="panel-note">
            A JSON file with your account, sources, connections, API keys, alerts and audit log,
            without secrets. Events are listed separately.
          </p>
          <div class="buttons">
            <ActionButton run={download}>
              <span>Download the export</span>
            </ActionButton>
          </div>
        </div>
      </section>
      <section class="panel">
        <div class="panel-head">
          <h2>Delete the account</h2>
        </div>
        <div class="form panel-body">
          <p class="panel-note">
            Deletes the account with its API keys, sources and connections, immediately and for
            good.
          </p>
          <div class="buttons">
            <ActionButton look="danger" run={() => void (isDeleting.value = true)}>
              <span>Delete account…</span>
            </ActionButton>
          </div>
        </div>
      </section>
      {isDeleting.value && <Deletion onClose={() => (isDeleting.value = false)} />}
    </>
  )
}

async function download(): Promise<void> {
  const response = await send('GET', '/ferryhook/v1/account/export')
  const url = URL.createObjectURL(await response.blob())
  const link = document.createElement('a')
  link.href = url
  link.download = 'ferryhook-account.json'
  link.click()
  URL.revokeObjectURL(url)
}

function Deletion({ onClose }: { onClose: () => void }) {
  const password = useSignal('')
  const account = user.value
  if (!account) return null
  return (
    <ConfirmDialog
      title="Delete the account"
      confirm="Delete account"
      keep="Keep account"
      consequences={[
        'All sources stop: their senders get errors from now on',
        'API keys, connections and alert settings are deleted',
        'Stored events expire as the plan says',
        'Nobody can restore it',
      ]}
      typeName={account.email}
      onClose={onClose}
      onConfirm={async () => {
        const json = account.hasPassword ? { currentPassword: password.value } : {}
        await request('POST', '/ferryhook/v1/account/delete', { json })
        forgetSession()
        navigate('/sign-in', { force: true, replace: true })
        showToast({ text: 'The account was deleted' })
      }}
    >
      {account.hasPassword && (
        <TextField
          label="Current password"
          name="current-password"
          type="password"
          autocomplete="current-password"
          value={password.value}
          onInput={(value) => (password.value = value)}
        />
      )}
    </ConfirmDialog>
  )
}
