/** One agency: its limit and status, its sites, and its join tokens. */
import { useSignal } from '@preact/signals'
import {
  agencies,
  type AgencyLine,
  type AgencySiteLine,
  type JoinTokenLine,
} from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog } from '../../parts/dialog.tsx'
import { formatDay, formatNumber, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { MeterBar } from '../../parts/meter.tsx'
import { More } from '../../parts/more.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { type PagedList, usePagedList } from '../../parts/paged-list.ts'
import { type Resource, useResource } from '../../parts/resource.ts'
import { Failed, Loaded, Loading } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import type { PageProps } from '../../pages.ts'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { LimitForm, NewToken, RoleForm } from './forms.tsx'

const PARENT = { label: 'Agencies', href: '/console/server/agencies' }

export default function AgencyPage({ params }: PageProps) {
  const id = params['id'] ?? ''
  return <Agency id={id} key={id} />
}

function Agency({ id }: { id: string }) {
  const agency = useResource((abort) => agencies.get(id, abort))
  const found = agency.data.value
  return (
    <>
      <Bar title={found?.agency_name ?? 'Agency'} parent={PARENT} />
      <main id="main">
        <div class="page">
          <Loaded resource={agency} what="the agency">
            {(data) => (
              <>
                <Facts agency={data} resource={agency} />
                <Tokens agency={data} />
                <Sites agency={data} />
              </>
            )}
          </Loaded>
        </div>
      </main>
    </>
  )
}

type Asked = 'limit' | 'status' | 'rotate'

function Facts({ agency, resource }: { agency: AgencyLine; resource: Resource<AgencyLine> }) {
  const asked = useSignal<Asked | undefined>(undefined)
  const newKey = useSignal<string | undefined>(undefined)
  const notAllowed = missingRole('editor', 'form-bridge')
  const close = () => (asked.value = undefined)
  const isActive = agency.status === 'active'
  const setStatus = async () => {
    const status = isActive ? 'suspended' : 'active'
    resource.set(await agencies.update(agency.agency_id, { status }))
    showToast({ text: `${agency.agency_name} is ${status}` })
  }
  return (
    <section class="panel" aria-label="Agency">
      <div class="panel-head">
        <Status status={agency.status} look="badge" />
        <CopyId id={agency.agency_id} what="agency id" full />
        <span class="push" />
        <div class="buttons">
          <ActionButton small run={() => void (asked.value = 'limit')} notAllowed={notAllowed}>
            <span>Set site limit…</span>
          </ActionButton>
          <ActionButton
            small
            run={() => void (asked.value = 'rotate')}
            notAllowed={missingRole('admin', 'form-bridge')}
          >
            <span>Replace key…</span>
          </ActionButton>
          <ActionButton small run={() => void (asked.value = 'status')} notAllowed={notAllowed}>
            <span>{isActive ? 'Suspend…' : 'Resume…'}</span>
          </ActionButton>
        </div>
      </div>
      <div class="panel-body">
        <dl class="facts">
          <dt>Contact</dt>
          <dd>
            <bdi>{agency.contact_email}</bdi>
          </dd>
          <dt>Sites</dt>
          <dd>
            <span class="use use-wide">
              <MeterBar used={agency.current_sites} limit={agency.max_sites} />
              <span class="num">
                {formatNumber(agency.current_sites)} of {formatNumber(agency.max_sites)}
              </span>
            </span>
          </dd>
          <dt>Created</dt>
          <dd>{formatDay(Date.parse(agency.created_at))}</dd>
        </dl>
      </div>
      <div class="panel-foot panel-commands">
        <Command text={`strongroom agencies show ${agency.agency_id}`} />
      </div>
      {asked.value === 'limit' && (
        <LimitForm agency={agency} onClose={close} onDone={(changed) => resource.set(changed)} />
      )}
      {asked.value === 'status' && (
        <ConfirmDialog
          title={`${isActive ? 'Suspend' : 'Resume'} ${agency.agency_name}?`}
          confirm={isActive ? 'Suspend agency' : 'Resume agency'}
          keep={isActive ? 'Keep active' : 'Keep suspended'}
          isDestructive={false}
          consequences={
            isActive
              ? [
                  'Its key is refused from the next request on.',
                  'No site can join it, also not with a join token.',
                  'Its sites stay connected and keep sending.',
                ]
              : ['Its key and its join tokens work again.']
          }
          onConfirm={setStatus}
          onClose={close}
        >
          <Command
            text={`strongroom agencies change ${agency.agency_id} --status ${isActive ? 'suspended' : 'active'}`}
          />
        </ConfirmDialog>
      )}
      {asked.value === 'rotate' && (
        <ConfirmDialog
          title={`Replace the key of ${agency.agency_name}?`}
          confirm="Replace key"
          keep="Keep key"
          consequences={[
            'The present key stops working immediately.',
            'The new key is shown once. Give it to the agency.',
          ]}
          onConfirm={async () => {
            newKey.value = (await agencies.rotateKey(agency.agency_id)).api_key
          }}
          onClose={close}
        >
          <Command text={`strongroom agencies rotate ${agency.agency_id}`} />
        </ConfirmDialog>
      )}
      {newKey.value !== undefined && asked.value === undefined && (
        <OnceSecretDialog
          title={`New key of ${agency.agency_name}`}
          text="Give it to the agency. It is shown only now; if it is lost, replace it again."
          secret={newKey.value}
          onClose={() => (newKey.value = undefined)}
        />
      )}
    </section>
  )
}

function Tokens({ agency }: { agency: AgencyLine }) {
  const { agency_id } = agency
  const list = usePagedList(agency_id, (cursor, abort) =>
    agencies.tokens(agency_id, { cursor, limit: 50 }, abort),
  )
  const isCreating = useSignal(false)
  const revoked = useSignal<JoinTokenLine | undefined>(undefined)
  const notAllowed = missingRole('editor', 'form-bridge')
  return (
    <section class="panel" aria-label="Join tokens">
      <div class="panel-head">
        <h2>Join tokens</h2>
        <p>Sites that connect with one become sites of this agency.</p>
        <span class="push" />
        <ActionButton small run={() => void (isCreating.value = true)} notAllowed={notAllowed}>
          <Icon name="plus" />
          <span>New join token</span>
        </ActionButton>
      </div>
      <Rows
        list={list}
        what="join tokens"
        none="No join token is valid. Create one to let sites join."
      >
        {(items) => (
          <table class="table table-cards">
            <thead>
              <tr>
                <th>Id</th>
                <th>Role</th>
                <th>Uses</th>
                <th class="right">Expires in</th>
                <th class="right">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((token) => (
                <tr key={token.id}>
                  <td class="card-main">
                    <CopyId id={token.id} what="token id" />
                  </td>
                  <td class="fit" data-name="Role">
                    {token.role}
                  </td>
                  <td class="fit" data-name="Uses">
                    {formatNumber(token.uses)} of {formatNumber(token.max_uses)}
                  </td>
                  <td class="right soft fit" data-name="Expires in">
                    {formatRelative(Date.parse(token.expires_at), now.value)}
                  </td>
                  <td class="right fit">
                    <ActionButton
                      small
                      look="danger"
                      run={() => void (revoked.value = token)}
                      notAllowed={notAllowed}
                    >
                      <span>Revoke…</span>
                    </ActionButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Rows>
      <div class="panel-foot panel-commands">
        <Command text={`strongroom agencies tokens ${agency_id}`} />
      </div>
      {isCreating.value && (
        <NewToken
          agency={agency}
          onClose={() => (isCreating.value = false)}
          onDone={() => list.reload()}
        />
      )}
      {revoked.value && (
        <ConfirmDialog
          title="Revoke the join token?"
          confirm="Revoke token"
          keep="Keep token"
          consequences={[
            'No further site can join with it.',
            `The ${formatNumber(revoked.value.uses)} sites that joined with it stay.`,
          ]}
          onConfirm={async () => {
            await agencies.revokeToken(agency_id, revoked.value?.id ?? '')
            list.reload()
          }}
          onClose={() => (revoked.value = undefined)}
        >
          <Command text={`strongroom agencies revoke ${agency_id} ${revoked.value.id}`} />
        </ConfirmDialog>
      )}
    </section>
  )
}

function Sites({ agency }: { agency: AgencyLine }) {
  const { agency_id } = agency
  const list = usePagedList(agency_id, (cursor, abort) =>
    agencies.sites(agency_id, { cursor, limit: 50 }, abort),
  )
  const changed = useSignal<AgencySiteLine | undefined>(undefined)
  const notAllowed = missingRole('admin', 'form-bridge')
  return (
    <section class="panel" aria-label="Sites">
      <div class="panel-head">
        <h2>Sites</h2>
        <span class="push" />
        <a class="small" href={`/console/server/sites?agency=${agency_id}`}>
          Open in the list of sites
        </a>
      </div>
      <Rows list={list} what="sites" none="No site has joined this agency yet.">
        {(items) => (
          <table class="table table-cards">
            <thead>
              <tr>
                <th>Domain</th>
                <th>Role of the agency</th>
                <th class="right">Joined</th>
                <th class="right">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {items.map((site) => (
                <tr key={site.site_id}>
                  <td class="card-main">
                    <a
                      class="link cut-cell"
                      href={`/console/server/sites?agency=${agency_id}&site=${site.site_id}`}
                    >
                      <bdi>{site.domain}</bdi>
                    </a>{' '}
                    {site.outside_limit && <span class="tag">Does not count</span>}
                  </td>
                  <td class="fit" data-name="Role">
                    {site.role}
                  </td>
                  <td class="right soft fit" data-name="Joined">
                    {formatDay(Date.parse(site.added_at))}
                  </td>
                  <td class="right fit">
                    <ActionButton
                      small
                      run={() => void (changed.value = site)}
                      notAllowed={notAllowed}
                    >
                      <span>Role…</span>
                    </ActionButton>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </Rows>
      {changed.value && (
        <RoleForm
          agency={agency}
          site={changed.value}
          onClose={() => (changed.value = undefined)}
          onDone={() => list.reload()}
        />
      )}
    </section>
  )
}

function Rows<T>(props: {
  list: PagedList<T>
  what: string
  none: string
  children: (items: readonly T[]) => preact.ComponentChildren
}) {
  const { list } = props
  const items = list.items.value
  if (items === undefined)
    return list.error.value === undefined ? (
      <Loading rows={3} />
    ) : (
      <Failed what={props.what} resource={list} />
    )
  if (items.length === 0) return <p class="panel-body soft">{props.none}</p>
  return (
    <div>
      {props.children(items)}
      {list.hasMore.value && <More list={list} />}
    </div>
  )
}
