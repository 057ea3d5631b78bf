/** Operators: who may administer this server. `?operator=name` shows one. */
import { useSignal } from '@preact/signals'
import type { ListedOperatorView } from '@strongroom/server/operators/view'
import { missingRole, operator as self } from '../../api/operator-session.ts'
import { request } from '../../api/request.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { useResource } from '../../parts/resource.ts'
import { Empty, Loaded } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { now } from '../../parts/format.ts'
import { param } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'
import { OperatorDetail } from './operator.tsx'
import { RightsDialog } from './rights.tsx'

const PATH = '/server/v1/operators'

async function listOperators(signal: AbortSignal): Promise<ListedOperatorView[]> {
  const options = { as: 'operator', signal } as const
  return (await request<{ items: ListedOperatorView[] }>('GET', PATH, options)).items
}

export default function OperatorsPage() {
  const operators = useResource(listOperators)
  const chosen = param('operator')
  const found = operators.data.value?.find(({ name }) => name === chosen)
  if (chosen !== undefined && chosen !== '' && operators.data.value) {
    if (found)
      return <OperatorDetail key={chosen} operator={found} onChanged={() => operators.reload()} />
    return (
      <>
        <Bar title={chosen} parent={{ label: 'Operators', href: '/console/server/operators' }} />
        <main id="main">
          <Empty
            glyph="none"
            title="Operator not found"
            actions={
              <a class="button button-primary" href="/console/server/operators">
                <span>All operators</span>
              </a>
            }
          >
            It was removed, or the address is wrong.
          </Empty>
        </main>
      </>
    )
  }
  return <OperatorList operators={operators} />
}

function OperatorList({
  operators,
}: {
  operators: ReturnType<typeof useResource<ListedOperatorView[]>>
}) {
  const isAdding = useSignal(false)
  const added = useSignal<{ name: string; token: string } | undefined>(undefined)
  const count = operators.data.value?.length
  return (
    <>
      <Bar
        title="Operators"
        note={count}
        actions={
          <ActionButton
            look="primary"
            notAllowed={missingRole('admin', 'server')}
            run={() => void (isAdding.value = true)}
          >
            <Icon name="plus" />
            <span>Add operator</span>
          </ActionButton>
        }
      />
      <main id="main">
        <div class="page">
          <Loaded resource={operators} what="operators">
            {(items) => (
              <section class="panel" aria-label="Operators">
                <OperatorTable operators={items} />
                <div class="panel-foot">
                  <Command text="strongroom operator add NAME --role viewer --expires 90d" />
                </div>
              </section>
            )}
          </Loaded>
        </div>
      </main>
      {isAdding.value && (
        <RightsDialog
          title="Add an operator"
          submit="Add operator"
          keep="Add nobody"
          run={async ({ name, role, services, expiresAt }) => {
            const json = {
              name,
              role,
              ...(services && { services }),
              ...(expiresAt !== null && { expiresAt }),
            }
            added.value = await request<{ name: string; token: string }>('POST', PATH, {
              as: 'operator',
              json,
            })
            operators.reload()
          }}
          onClose={() => (isAdding.value = false)}
        />
      )}
      {added.value && !isAdding.value && (
        <OnceSecretDialog
          title={`Token of ${added.value.name}`}
          text="Pass it on over a safe way, such as a Sealed link: it is not shown again. If it is lost, rotate it."
          secret={added.value.token}
          onClose={() => (added.value = undefined)}
        />
      )}
    </>
  )
}

function OperatorTable({ operators }: { operators: readonly ListedOperatorView[] }) {
  return (
    <div class="table-wrap">
      <table class="table table-cards">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Role</th>
            <th scope="col">Services</th>
            <th scope="col">Second factor</th>
            <th scope="col">Expires</th>
            <th scope="col" class="right">
              Token last used
            </th>
          </tr>
        </thead>
        <tbody>
          {operators.map((operator) => (
            <tr key={operator.name}>
              <td class="card-main">
                <a
                  class="link mono"
                  href={`/console/server/operators?operator=${encodeURIComponent(operator.name)}`}
                >
                  {operator.name}
                </a>{' '}
                {operator.name === self.value?.name && <span class="tag">You</span>}
              </td>
              <td>{operator.role}</td>
              <td class="soft" data-name="Services">
                {operator.services === null ? 'all' : operator.services.join(', ')}
              </td>
              <td data-name="Second factor">
                {operator.secondFactor ? (
                  <Status status="enabled" look="quiet" />
                ) : (
                  <span class="soft">None</span>
                )}
              </td>
              <td class="soft" data-name="Expires">
                <Expiry expiresAt={operator.expiresAt} />
              </td>
              <td class="right soft" data-name="Last used">
                {operator.lastUsedAt === null ? (
                  'Never'
                ) : (
                  <RelativeTime time={operator.lastUsedAt} suffix=" ago" />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Expiry({ expiresAt }: { expiresAt: string | null }) {
  if (expiresAt === null) return <>never</>
  if (Date.parse(expiresAt) <= now.value)
    return (
      <Status status="disabled" look="quiet">
        Expired
      </Status>
    )
  return (
    <>
      in <RelativeTime time={expiresAt} />
    </>
  )
}
