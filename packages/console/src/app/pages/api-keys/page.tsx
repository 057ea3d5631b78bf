/** API keys: create, shown once, and revoke. */
import { useSignal } from '@preact/signals'
import type { ApiKeyView } from '@strongroom/ferryhook/accounts/api-keys/routes'
import type { z } from 'zod'
import { request } from '../../api/request.ts'
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { messageOf } from '../../api/errors.ts'
import { Icon } from '../../parts/icon.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'

type ApiKey = z.infer<typeof ApiKeyView>

const PATH = '/ferryhook/v1/api-keys'

const PERMISSIONS = {
  read: 'Reads events, sources, connections and statistics',
  write: 'Also changes sources and connections, and replays events',
  admin: 'Also sees secrets, changes who is trusted, and manages API keys',
} as const
type Permission = keyof typeof PERMISSIONS

async function listKeys(signal: AbortSignal): Promise<ApiKey[]> {
  const { items } = await request<{ items: ApiKey[] }>('GET', PATH, { signal })
  return items.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
}

export default function ApiKeysPage() {
  const keys = useResource(listKeys)
  const isCreating = useSignal(false)
  const created = useSignal<(ApiKey & { key: string }) | undefined>(undefined)
  const revoked = useSignal<ApiKey | undefined>(undefined)
  const create = (
    <button class="button button-primary" type="button" onClick={() => (isCreating.value = true)}>
      <Icon name="plus" />
      <span>Create API key</span>
    </button>
  )
  return (
    <>
      <Bar title="API keys" actions={create} />
      <main id="main">
        <Loaded resource={keys} what="API keys">
          {(items) =>
            items.length === 0 ? (
              <Empty
                title="No API keys"
                actions={create}
                command="strongroom api-keys create CI --permission read"
              >
                An API key lets a program or the command line use your account. Each key has a
                permission, and can be revoked without affecting the others.
              </Empty>
            ) : (
              <KeyTable keys={items} onRevoke={(key) => (revoked.value = key)} />
            )
          }
        </Loaded>
      </main>
      {isCreating.value && (
        <CreateDialog
          onCreated={(key) => {
            created.value = key
            keys.reload()
          }}
          onClose={() => (isCreating.value = false)}
        />
      )}
      {created.value && (
        <OnceSecretDialog
          title={`API key ${created.value.name}`}
          text="Store it now: it is not shown again. If it is lost, revoke it and create another one."
          secret={created.value.key}
          onClose={() => (created.value = undefined)}
        />
      )}
      {revoked.value && (
        <RevokeDialog
          apiKey={revoked.value}
          onRevoked={() => keys.reload()}
          onClose={() => (revoked.value = undefined)}
        />
      )}
    </>
  )
}

function KeyTable({
  keys,
  onRevoke,
}: {
  keys: readonly ApiKey[]
  onRevoke: (key: ApiKey) => void
}) {
  return (
    <div class="page page-flush">
      <div class="table-wrap">
        <table class="table table-cards">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Begins with</th>
              <th scope="col">Permission</th>
              <th scope="col" class="right">
                Last used
              </th>
              <th scope="col" class="right">
                Created
              </th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {keys.map((key) => (
              <tr key={key.id}>
                <td class="card-main strong">{key.name}</td>
                <td class="mono">fh_live_{key.prefix}…</td>
                <td>
                  <span title={PERMISSIONS[key.permissions]}>{key.permissions}</span>
                </td>
                <td class="right soft" data-name="Last used">
                  {key.lastUsedAt === null ? (
                    'Never'
                  ) : (
                    <RelativeTime time={key.lastUsedAt} suffix=" ago" />
                  )}
                </td>
                <td class="right soft" data-name="Created">
                  <RelativeTime time={key.createdAt} suffix=" ago" />
                </td>
                <td class="fit right">
                  <button
                    class="button button-small button-danger"
                    type="button"
                    aria-label={`Revoke ${key.name}…`}
                    onClick={() => onRevoke(key)}
                  >
                    <span>Revoke…</span>
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  )
}

function CreateDialog(props: {
  onCreated: (key: ApiKey & { key: string }) => void
  onClose: () => void
}) {
  const name = useSignal('')
  const permissions = useSignal<Permission>('read')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const nameProblem = fieldProblem(error.value, 'name')
  const create = async () => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const json = { name: name.value, permissions: permissions.value }
      const key = await request<ApiKey & { key: string }>('POST', PATH, { json })
      props.onClose()
      props.onCreated(key)
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  return (
    <Dialog
      title="Create an API key"
      onClose={props.onClose}
      onSubmit={() => void create()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Create nothing</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Create API key</span>
          </button>
        </>
      }
    >
      <div class="form">
        <TextField
          label="Name"
          hint="What uses it, such as the name of a program"
          value={name.value}
          problem={nameProblem}
          maxLength={100}
          required
          onInput={(value) => (name.value = value)}
        />
        <fieldset class="field">
          <legend class="label">Permission</legend>
          <div class="checks">
            {(Object.keys(PERMISSIONS) as Permission[]).map((each) => (
              <label class="line-field" key={each}>
                <input
                  class="check"
                  type="radio"
                  name="permission"
                  checked={permissions.value === each}
                  onChange={() => (permissions.value = each)}
                />
                <span>
                  <b class="strong">{each}</b> <span class="soft small">{PERMISSIONS[each]}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        {error.value !== undefined && nameProblem === undefined && (
          <Problem>{messageOf(error.value)}</Problem>
        )}
      </div>
    </Dialog>
  )
}

function RevokeDialog(props: { apiKey: ApiKey; onRevoked: () => void; onClose: () => void }) {
  const { id, name, lastUsedAt } = props.apiKey
  return (
    <ConfirmDialog
      title={`Revoke the API key ${name}?`}
      confirm="Revoke API key"
      keep="Keep API key"
      consequences={[
        'Requests with it are refused immediately with status 401.',
        'Programs that use it stop working until they have another key.',
        'This cannot be undone.',
      ]}
      onConfirm={async () => {
        await request('DELETE', `${PATH}/${id}`)
        showToast({ text: `The API key ${name} is revoked.` })
        props.onRevoked()
      }}
      onClose={props.onClose}
    >
      <p>
        {lastUsedAt === null ? (
          'It was never used.'
        ) : (
          <>
            It was last used <RelativeTime time={lastUsedAt} suffix=" ago" />.
          </>
        )}
      </p>
    </ConfirmDialog>
  )
}
