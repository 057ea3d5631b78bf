/** Agencies: who they are, how many sites they have, and a new one. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { agencies, type AgencyLine } from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { formatDay, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { MeterBar } from '../../parts/meter.tsx'
import { More } from '../../parts/more.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { usePagedList } from '../../parts/paged-list.ts'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Status, StatusIcon, statusTone, statusWord } from '../../parts/status.tsx'
import { param } from '../../router.ts'
import { Bar } from '../../shell/bar.tsx'

const STATUSES = ['active', 'suspended'] as const

export default function AgenciesPage() {
  const status = STATUSES.find((each) => each === param('status')) ?? 'active'
  const list = usePagedList(status, (cursor, abort) =>
    agencies.list({ status, cursor, limit: 50 }, abort),
  )
  const isCreating = useSignal(false)
  const notAllowed = missingRole('editor', 'form-bridge')
  const items = list.items.value
  const create = () => void (isCreating.value = true)
  return (
    <>
      <Bar
        title="Agencies"
        note={items && `${formatNumber(items.length)}${list.hasMore.value ? '+' : ''} ${status}`}
        actions={
          <ActionButton look="primary" run={create} notAllowed={notAllowed}>
            <Icon name="plus" />
            <span>New agency</span>
          </ActionButton>
        }
      />
      <main id="main">
        <nav class="tabs tabs-bar" aria-label="Status">
          {STATUSES.map((each) => (
            <a
              class={`tab st-tab is-${statusTone(each)}`}
              href={`/console/server/agencies${each === 'active' ? '' : `?status=${each}`}`}
              aria-current={each === status ? 'true' : undefined}
              key={each}
            >
              <StatusIcon status={each} />
              <span>{statusWord(each)}</span>
            </a>
          ))}
        </nav>
        <div class="page page-flush">
          {items === undefined ? (
            list.error.value === undefined ? (
              <Loading />
            ) : (
              <Failed what="agencies" resource={list} />
            )
          ) : items.length === 0 ? (
            <NoAgencies status={status} onCreate={create} notAllowed={notAllowed} />
          ) : (
            <>
              <table class="table table-cards table-flush">
                <thead>
                  <tr>
                    <th>Agency</th>
                    <th>Status</th>
                    <th>Contact</th>
                    <th>Sites</th>
                    <th>Id</th>
                    <th class="right">Created</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((agency) => (
                    <Row agency={agency} key={agency.agency_id} />
                  ))}
                </tbody>
              </table>
              <More list={list} />
            </>
          )}
          <div class="page-foot">
            <Command text={`strongroom agencies list --status ${status}`} />
          </div>
        </div>
      </main>
      {isCreating.value && (
        <NewAgency onClose={() => (isCreating.value = false)} onDone={() => list.reload()} />
      )}
    </>
  )
}

function Row({ agency }: { agency: AgencyLine }) {
  return (
    <tr>
      <td class="card-main">
        <a class="link cut-cell" href={`/console/server/agencies/${agency.agency_id}`}>
          <bdi>{agency.agency_name}</bdi>
        </a>
      </td>
      <td class="fit">
        <Status status={agency.status} look="quiet" />
      </td>
      <td class="soft cut-cell" data-name="Contact">
        <bdi>{agency.contact_email}</bdi>
      </td>
      <td class="fit" data-name="Sites">
        <span class="use use-wide">
          <MeterBar used={agency.current_sites} limit={agency.max_sites} />
          <span class="num">
            {formatNumber(agency.current_sites)} of {formatNumber(agency.max_sites)}
          </span>
        </span>
      </td>
      <td class="fit card-none">
        <CopyId id={agency.agency_id} what="agency id" />
      </td>
      <td class="right soft fit card-none">{formatDay(Date.parse(agency.created_at))}</td>
    </tr>
  )
}

function NoAgencies(props: {
  status: string
  onCreate: () => void
  notAllowed: string | undefined
}) {
  if (props.status === 'suspended')
    return (
      <Empty
        glyph="none"
        title="No agency is suspended"
        actions={
          <a class="button button-primary" href="/console/server/agencies">
            <span>Show active ones</span>
          </a>
        }
      />
    )
  return (
    <Empty
      title="No agencies yet"
      actions={
        <ActionButton look="primary" run={props.onCreate} notAllowed={props.notAllowed}>
          <Icon name="plus" />
          <span>New agency</span>
        </ActionButton>
      }
      command='strongroom agencies add "Studio Nord" --email office@example.org --max-sites 100'
    >
      An agency connects many sites with join tokens and manages them with a key of its own.
    </Empty>
  )
}

function NewAgency({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const name = useSignal('')
  const email = useSignal('')
  const max = useSignal('100')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const created = useSignal<{ name: string; key: string } | undefined>(undefined)
  const isNumber = /^\d{1,7}$/.test(max.value.trim()) && Number(max.value) <= 1_000_000
  const isReady = name.value.trim() !== '' && email.value.trim() !== '' && isNumber
  const create = async () => {
    if (!isReady || isBusy.value) return
    isBusy.value = true
    error.value = undefined
    try {
      const agency = await agencies.create({
        agency_name: name.value.trim(),
        contact_email: email.value.trim(),
        max_sites: Number(max.value.trim()),
      })
      created.value = { name: agency.agency_name, key: agency.api_key }
      onDone()
    } catch (thrown) {
      error.value = thrown
    } finally {
      isBusy.value = false
    }
  }
  if (created.value)
    return (
      <OnceSecretDialog
        title={`Key of ${created.value.name}`}
        text="Give it to the agency. It is shown only now; if it is lost, replace it on the page of the agency."
        secret={created.value.key}
        onClose={onClose}
      />
    )
  return (
    <Dialog
      title="New agency"
      onClose={onClose}
      onSubmit={() => void create()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Cancel</span>
          </button>
          <button class="button button-primary" type="submit" disabled={!isReady || isBusy.value}>
            <span>Create agency</span>
          </button>
        </>
      }
    >
      <TextField
        label="Name"
        maxLength={200}
        value={name.value}
        onInput={(value) => (name.value = value)}
        problem={fieldProblem(error.value, 'agency_name')}
      />
      <TextField
        label="Contact address"
        type="email"
        maxLength={254}
        value={email.value}
        onInput={(value) => (email.value = value)}
        problem={fieldProblem(error.value, 'contact_email')}
      />
      <TextField
        label="Site limit"
        hint="Staging sites do not count."
        inputMode="numeric"
        value={max.value}
        onInput={(value) => (max.value = value)}
        problem={
          isNumber
            ? fieldProblem(error.value, 'max_sites')
            : 'Enter a whole number from 0 to 1,000,000'
        }
      />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
