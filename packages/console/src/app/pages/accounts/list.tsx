/** The Ferryhook accounts of this server: find, add, invite. */
import { useSignal } from '@preact/signals'
import type { OperatorUserView } from '@strongroom/ferryhook/accounts/users/view'
import { messageOf } from '../../api/errors.ts'
import { fetchItems, V1 } from '../../api/ferryhook.ts'
import { missingRole } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { formatCount, formatDay, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded, LoadMore } from '../../parts/states.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { PLAN_NAMES, type Ticket } from './plans.ts'

const PAGE_SIZE = 100

interface Shown {
  title: string
  text: string
  secret: string
}

export default function AccountsPage() {
  const max = useSignal(PAGE_SIZE)
  const resource = useResource((abort) => {
    const email = param('email')
    const query = email?.includes('@') ? { email } : {}
    return fetchItems<OperatorUserView>('/users', { max: max.value, query, as: 'operator', abort })
  })
  const shown = useSignal<Shown | undefined>(undefined)
  const isAdding = useSignal(false)
  const notAllowed = missingRole('editor', 'ferryhook')
  const invite = async () => {
    const ticket = await request<Ticket>('POST', `${V1}/invites`, { as: 'operator' })
    shown.value = {
      title: 'Invite link',
      text: 'It creates one account and is valid for seven days. It is shown only now.',
      secret: ticket.url,
    }
  }
  const count = resource.data.value?.items.length
  return (
    <>
      <Bar
        title="Accounts"
        note={count ? formatCount(count, 'account') : undefined}
        actions={
          <>
            <ActionButton run={invite} notAllowed={notAllowed}>
              <Icon name="link" />
              <span>Invite</span>
            </ActionButton>
            <ActionButton
              look="primary"
              run={() => void (isAdding.value = true)}
              notAllowed={notAllowed}
            >
              <Icon name="plus" />
              <span>Add account</span>
            </ActionButton>
          </>
        }
      />
      <main id="main">
        <Search />
        <Loaded resource={resource} what="accounts">
          {({ items, hasMore }) => (
            <>
              <Found items={items} />
              {hasMore && <LoadMore onClick={() => (max.value += PAGE_SIZE)} />}
              <div class="page">
                <Command text="strongroom user list" />
              </div>
            </>
          )}
        </Loaded>
      </main>
      {isAdding.value && (
        <AddDialog
          onClose={() => (isAdding.value = false)}
          onAdded={(made) => {
            shown.value = made
            resource.reload()
          }}
        />
      )}
      {shown.value && (
        <OnceSecretDialog {...shown.value} onClose={() => (shown.value = undefined)} />
      )}
    </>
  )
}

function Search() {
  const typed = param('email') ?? ''
  return (
    <div class="filters">
      <div class="query">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Find accounts by e-mail or name"
          placeholder="E-mail address or name"
          value={typed}
          onInput={(event) => setQuery({ email: event.currentTarget.value }, { replace: true })}
        />
      </div>
    </div>
  )
}

function Found({ items }: { items: readonly OperatorUserView[] }) {
  const typed = (param('email') ?? '').toLowerCase()
  const found = items
    .filter((user) => `${user.email} ${user.name}`.toLowerCase().includes(typed))
    .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
  if (found.length === 0) {
    return typed === '' ? (
      <Empty title="No accounts yet" command="strongroom user add ada@example.com">
        Everybody who relays webhooks with this server has an account.
      </Empty>
    ) : (
      <Empty
        glyph="none"
        title={`No account matches “${typed}”`}
        actions={
          <button class="button" type="button" onClick={() => setQuery({ email: undefined })}>
            <span>Show all</span>
          </button>
        }
      />
    )
  }
  return (
    <div class="table-wrap">
      <table class="table table-cards table-page">
        <thead>
          <tr>
            <th scope="col">E-mail</th>
            <th scope="col">Name</th>
            <th scope="col">Plan</th>
            <th scope="col" class="right">
              Events this month
            </th>
            <th scope="col" class="right">
              Created
            </th>
            <th scope="col">Id</th>
          </tr>
        </thead>
        <tbody>
          {found.map((user) => (
            <tr key={user.id}>
              <td class="card-wide">
                <a class="link" href={`/console/server/accounts/${user.id}`}>
                  {user.email}
                </a>
                {!user.emailVerified && <span class="second"> not verified</span>}
              </td>
              <td>{user.name}</td>
              <td>{PLAN_NAMES[user.plan]}</td>
              <td class="right num" data-name="Events">
                {formatNumber(user.usageThisMonth)}
              </td>
              <td class="right" data-name="Created">
                {formatDay(Date.parse(user.createdAt))}
              </td>
              <td class="fit card-none">
                <CopyId id={user.id} what="account id" />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function AddDialog({ onClose, onAdded }: { onClose: () => void; onAdded: (shown: Shown) => void }) {
  const email = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const add = async () => {
    if (isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const json = { email: email.value }
      const made = await request<OperatorUserView & { key: string }>('POST', `${V1}/users`, {
        as: 'operator',
        json,
      })
      onClose()
      onAdded({
        title: `API key of ${made.email}`,
        text: 'It has all permissions and is shown only now. The account has no password until its user sets one with a reset link.',
        secret: made.key,
      })
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  const problem = fieldProblem(error.value, 'email')
  return (
    <Dialog
      title="Add an account"
      onClose={onClose}
      onSubmit={() => void add()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Cancel</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Add account</span>
          </button>
        </>
      }
    >
      <TextField
        label="E-mail address"
        type="email"
        autocomplete="off"
        required
        value={email.value}
        onInput={(value) => (email.value = value)}
        problem={problem}
      />
      {error.value !== undefined && problem === undefined && (
        <Problem>{messageOf(error.value)}</Problem>
      )}
    </Dialog>
  )
}
