/** The API tokens with which programs seal secrets without a proof of work. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { missingRole } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command } from '../../parts/copy.tsx'
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { formatNumber, now } from '../../parts/format.ts'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'

/** Times are epoch seconds. */
interface ApiToken {
  name: string
  perHour: number
  createdAt: number
  expiresAt: number | null
  lastUsedAt: number | null
}

const TOKENS = '/sealed/v1/api-tokens'
const DEFAULT_PER_HOUR = '100'

export function ApiTokens() {
  const tokens = useResource((signal) =>
    request<{ items: ApiToken[] }>('GET', TOKENS, { as: 'operator', signal }),
  )
  const isCreating = useSignal(false)
  const created = useSignal<string | undefined>(undefined)
  const revoked = useSignal<string | undefined>(undefined)
  const notAllowed = missingRole('editor', 'sealed')
  return (
    <section class="panel" aria-labelledby="h-tokens">
      <div class="panel-head">
        <h2 id="h-tokens">API tokens</h2>
        <p class="hide-small">Programs seal without a proof of work</p>
        <span class="push" />
        <ActionButton small notAllowed={notAllowed} run={() => void (isCreating.value = true)}>
          <span>Create token…</span>
        </ActionButton>
      </div>
      <Loaded resource={tokens} what="API tokens">
        {({ items }) =>
          items.length === 0 ? (
            <div class="panel-body form">
              <p>No API tokens. A program with one seals a limited number of secrets per hour.</p>
              <Command text="strongroom sealed token add ci" />
            </div>
          ) : (
            <TokenTable
              tokens={items}
              notAllowed={notAllowed}
              onRevoke={(name) => (revoked.value = name)}
            />
          )
        }
      </Loaded>
      {isCreating.value && (
        <CreateDialog
          onClose={() => (isCreating.value = false)}
          onCreated={(token) => {
            created.value = token
            tokens.reload()
          }}
        />
      )}
      {created.value !== undefined && (
        <OnceSecretDialog
          title="Store this API token"
          text="It is shown only now. If it is lost, revoke it and create another one."
          secret={created.value}
          onClose={() => (created.value = undefined)}
        />
      )}
      {revoked.value !== undefined && (
        <ConfirmDialog
          title={`Revoke ${revoked.value}?`}
          confirm="Revoke token"
          keep="Keep token"
          consequences={[
            'Programs that use it are refused immediately, on every server.',
            'Secrets that it sealed can still be opened.',
          ]}
          onClose={() => (revoked.value = undefined)}
          onConfirm={async () => {
            const name = encodeURIComponent(revoked.value ?? '')
            await request('DELETE', `${TOKENS}/${name}`, { as: 'operator' })
            tokens.reload()
          }}
        >
          <Command text={`strongroom sealed token revoke ${revoked.value}`} />
        </ConfirmDialog>
      )}
    </section>
  )
}

function TokenTable(props: {
  tokens: readonly ApiToken[]
  notAllowed: string | undefined
  onRevoke: (name: string) => void
}) {
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th>Name</th>
            <th class="right">Per hour</th>
            <th>Created</th>
            <th>Last used</th>
            <th>Valid</th>
            <th>
              <span class="unseen">Action</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {props.tokens.map(({ name, perHour, createdAt, lastUsedAt, expiresAt }) => (
            <tr key={name}>
              <td class="card-main strong">{name}</td>
              <td class="right" data-name="Per hour">
                {formatNumber(perHour)}
              </td>
              <td class="nowrap" data-name="Created">
                <RelativeTime time={createdAt * 1000} suffix=" ago" />
              </td>
              <td class="nowrap" data-name="Last used">
                {lastUsedAt === null ? (
                  'Never'
                ) : (
                  <RelativeTime time={lastUsedAt * 1000} suffix=" ago" />
                )}
              </td>
              <td class="nowrap" data-name="Valid">
                {expiresAt === null ? (
                  'Without a limit'
                ) : expiresAt * 1000 <= now.value ? (
                  <Status status="disabled">Expired</Status>
                ) : (
                  <RelativeTime time={expiresAt * 1000} />
                )}
              </td>
              <td class="fit">
                <ActionButton
                  small
                  look="danger"
                  notAllowed={props.notAllowed}
                  label={`Revoke ${name}`}
                  run={() => props.onRevoke(name)}
                >
                  <span>Revoke…</span>
                </ActionButton>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function CreateDialog(props: { onClose: () => void; onCreated: (token: string) => void }) {
  const { onClose, onCreated } = props
  const name = useSignal('')
  const perHour = useSignal(DEFAULT_PER_HOUR)
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const create = async () => {
    if (isBusy.value) return
    isBusy.value = true
    try {
      const { token } = await request<{ token: string }>('POST', TOKENS, {
        as: 'operator',
        json: { name: name.value, perHour: Number(perHour.value) },
      })
      onClose()
      onCreated(token)
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const isNamed = fieldProblem(error.value, 'perHour') !== undefined
  return (
    <Dialog
      title="Create an API token"
      onClose={onClose}
      onSubmit={() => void create()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Create token</span>
          </button>
        </>
      }
    >
      <TextField
        label="Name"
        value={name.value}
        onInput={(value) => (name.value = value.trim())}
        hint="1 to 32 lower-case letters, digits and hyphens"
        autocomplete="off"
        placeholder="ci"
        required
      />
      <TextField
        label="Secrets per hour"
        inputMode="numeric"
        value={perHour.value}
        onInput={(value) => (perHour.value = value.trim())}
        problem={fieldProblem(error.value, 'perHour')}
        hint="Counted across all servers"
      />
      <Command
        text={`strongroom sealed token add ${name.value || 'NAME'} --per-hour ${perHour.value}`}
      />
      {error.value !== undefined && !isNamed && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
