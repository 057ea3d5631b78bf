/** Registrations that wait for the proof of their domain, for an hour each. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { type OperatorRegistration, registrations } from '../../api/form-bridge.ts'
import { Command, CopyId } from '../../parts/copy.tsx'
import { formatNumber, formatRelative, now } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { More } from '../../parts/more.tsx'
import { usePagedList } from '../../parts/paged-list.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Status } from '../../parts/status.tsx'
import { RelativeTime } from '../../parts/time.tsx'
import { param, setQuery } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'

/** As the API has it. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?(?:\/[^\s/]+)*$/

export default function RegistrationsPage() {
  const given = param('domain')
  const domain = given !== undefined && DOMAIN.test(given) ? given : undefined
  const list = usePagedList(domain ?? '', (cursor, abort) =>
    registrations.list({ domain, cursor, limit: 50 }, abort),
  )
  const items = list.items.value
  const count = items && `${formatNumber(items.length)}${list.hasMore.value ? '+' : ''}`
  return (
    <>
      <Bar
        title="Registrations"
        note={count && domain === undefined ? `${count} pending` : undefined}
        actions={
          <button class="button" type="button" onClick={() => list.reload()}>
            <Icon name="replay" />
            <span>Refresh</span>
          </button>
        }
      />
      <main id="main">
        <DomainFilter domain={given} />
        <div class="page page-flush">
          {items === undefined ? (
            list.error.value === undefined ? (
              <Loading />
            ) : (
              <Failed what="registrations" resource={list} />
            )
          ) : items.length === 0 ? (
            <NoRegistrations domain={domain} />
          ) : (
            <>
              <table class="table table-cards table-flush">
                <thead>
                  <tr>
                    <th>Domain</th>
                    <th>Status</th>
                    <th>Registration</th>
                    <th>Proof</th>
                    <th class="right">Began</th>
                    <th class="right">Expires in</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((item) => (
                    <Row item={item} key={item.registration_id} />
                  ))}
                </tbody>
              </table>
              <More list={list} />
            </>
          )}
          <div class="page-foot">
            <Command
              text={`strongroom registrations list${domain === undefined ? '' : ` --domain ${domain}`}`}
            />
          </div>
        </div>
      </main>
    </>
  )
}

function Row({ item }: { item: OperatorRegistration }) {
  const expires = Date.parse(item.expires_at)
  return (
    <tr>
      <td class="card-main">
        <a
          class="link cut-cell"
          href={`/console/server/registrations?domain=${encodeURIComponent(item.domain)}`}
          title={`All registrations of ${item.domain}`}
        >
          <bdi>{item.domain}</bdi>
        </a>
      </td>
      <td class="fit">
        <Status status={item.status} look="quiet" />
      </td>
      <td class="fit">
        <CopyId id={item.registration_id} what="registration id" />
      </td>
      <td class="soft fit" data-name="Proof">
        {item.proved_by ?? (
          <span class="faint">{item.status === 'pending' ? 'Not yet' : 'None'}</span>
        )}
      </td>
      <td class="right soft fit" data-name="Began">
        <RelativeTime time={item.created_at} suffix=" ago" />
      </td>
      <td class="right soft fit" data-name="Expires in">
        {expires > now.value ? formatRelative(expires, now.value) : 'expired'}
      </td>
    </tr>
  )
}

function DomainFilter({ domain }: { domain: string | undefined }) {
  const typed = useSignal(domain ?? '')
  useEffect(() => {
    typed.value = domain ?? ''
  }, [domain])
  return (
    <form
      class="filters"
      role="search"
      aria-label="Find registrations"
      onSubmit={(event) => {
        event.preventDefault()
        const text = typed.value
          .trim()
          .toLowerCase()
          .replace(/^https?:\/\//, '')
          .replace(/\/+$/, '')
        setQuery({ domain: text || undefined })
      }}
    >
      <div class="query">
        <Icon name="search" />
        <input
          type="text"
          aria-label="Exact domain"
          placeholder="An exact domain, then Enter: all its registrations of the last hour"
          autocomplete="off"
          spellcheck={false}
          maxLength={512}
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        {domain !== undefined && (
          <button
            class="button button-icon button-quiet button-small"
            type="button"
            aria-label="Remove the filter"
            onClick={() => setQuery({ domain: undefined })}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
    </form>
  )
}

function NoRegistrations({ domain }: { domain: string | undefined }) {
  if (domain !== undefined)
    return (
      <Empty
        glyph="none"
        title={`No registration of ${domain} in the last hour`}
        actions={
          <a class="button button-primary" href="/console/server/registrations">
            <span>Show pending ones</span>
          </a>
        }
      />
    )
  return (
    <Empty title="No registration is pending">
      A registration begins when the owner of a site presses “Connect”, and waits up to an hour for
      the proof of its domain.
    </Empty>
  )
}
