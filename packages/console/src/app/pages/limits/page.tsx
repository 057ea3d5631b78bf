/** Overrides of rate limits: for whom, how much is used, set and remove. */
import { useSignal } from '@preact/signals'
import { limits, type RateOverrideLine } from '../../api/form-bridge.ts'
import { missingRole } from '../../api/operator-session.ts'
import { ActionButton } from '../../parts/action-button.tsx'
import { Command, CopyId } from '../../parts/copy.tsx'
import { ConfirmDialog, Dialog } from '../../parts/dialog.tsx'
import { Field, TextField } from '../../parts/field.tsx'
import { formatCount, formatDay, formatNumber } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { LimitLine } from '../../parts/meter.tsx'
import { More } from '../../parts/more.tsx'
import { usePagedList } from '../../parts/paged-list.ts'
import { useResource } from '../../parts/resource.ts'
import { Empty, Failed, Loaded, Loading } from '../../parts/states.tsx'
import { Bar } from '../../shell/bar.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { LimitDialog } from '../sites/actions.tsx'

/** Kinds of requests whose use the server can show. */
const COUNTED = ['api', 'webhook', 'update_check', 'registration', 'key_exchange', 'validation']

const SCOPE_WORDS: Record<string, string> = {
  api: 'Requests of a site',
  webhook: 'Submissions of a site',
  update_check: 'Update checks of a site',
  registration: 'Registrations of an address',
  key_exchange: 'Wrong keys of an address',
  validation: 'Validations of an address',
  registration_domain: 'Registrations of a domain',
  validation_domain: 'Checks of a host',
  validation_share: 'Checks of a host by one caller',
  agency: 'Requests of an agency',
}

const WINDOW_WORDS: Record<string, string> = {
  minute: 'min',
  minutes: '5 min',
  hour: 'h',
  day: 'day',
}

export default function LimitsPage() {
  const list = usePagedList('', (cursor, abort) => limits.list({ cursor, limit: 50 }, abort))
  const isAdding = useSignal(false)
  const edited = useSignal<{ scope: string; id: string } | undefined>(undefined)
  const removed = useSignal<RateOverrideLine | undefined>(undefined)
  const notAllowed = missingRole('editor', 'form-bridge')
  const items = list.items.value
  const add = () => void (isAdding.value = true)
  const done = () => list.reload()
  return (
    <>
      <Bar
        title="Limits"
        note={items && formatCount(items.length, 'override')}
        actions={
          <ActionButton look="primary" run={add} notAllowed={notAllowed}>
            <Icon name="plus" />
            <span>Set limit…</span>
          </ActionButton>
        }
      />
      <main id="main">
        <div class="page page-flush">
          {items === undefined ? (
            list.error.value === undefined ? (
              <Loading />
            ) : (
              <Failed what="limits" resource={list} />
            )
          ) : items.length === 0 ? (
            <Empty
              title="Everybody has the default limits"
              actions={
                <ActionButton look="primary" run={add} notAllowed={notAllowed}>
                  <span>Set limit…</span>
                </ActionButton>
              }
              command="strongroom rate-limits set api site_… --minute 300"
            >
              An override gives one site, address, domain or agency other limits than the default
              ones.
            </Empty>
          ) : (
            <>
              <table class="table table-cards table-flush table-limits">
                <thead>
                  <tr>
                    <th>For</th>
                    <th>Kind of request</th>
                    <th>Override</th>
                    <th>Used now</th>
                    <th class="right">Set</th>
                    <th class="right">
                      <span class="unseen">Actions</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((override) => (
                    <Row
                      override={override}
                      onEdit={() => (edited.value = override)}
                      onRemove={() => (removed.value = override)}
                      notAllowed={notAllowed}
                      key={`${override.scope} ${override.id} ${override.created_at}`}
                    />
                  ))}
                </tbody>
              </table>
              <More list={list} />
            </>
          )}
          <div class="page-foot">
            <Command text="strongroom rate-limits list" />
          </div>
        </div>
      </main>
      {isAdding.value && (
        <ChooseDialog
          onClose={() => (isAdding.value = false)}
          onChosen={(chosen) => {
            isAdding.value = false
            edited.value = chosen
          }}
        />
      )}
      {edited.value && (
        <LimitDialog
          {...edited.value}
          name={edited.value.id}
          onClose={() => (edited.value = undefined)}
          onDone={done}
        />
      )}
      {removed.value && (
        <ConfirmDialog
          title={`Remove the limits of ${removed.value.id}?`}
          confirm="Remove override"
          keep="Keep override"
          isDestructive={false}
          consequences={['The default limits apply again within five seconds.']}
          onConfirm={async () => {
            const { scope = '', id = '' } = removed.value ?? {}
            await limits.remove(scope, id)
            done()
            showToast({ text: `The default limits apply to ${id}` })
          }}
          onClose={() => (removed.value = undefined)}
        >
          <Command
            text={`strongroom rate-limits remove ${removed.value.scope} ${removed.value.id}`}
          />
        </ConfirmDialog>
      )}
    </>
  )
}

function Row(props: {
  override: RateOverrideLine
  onEdit: () => void
  onRemove: () => void
  notAllowed: string | undefined
}) {
  const { override, notAllowed } = props
  const isCounted = COUNTED.includes(override.scope)
  return (
    <tr>
      <td class="card-main">
        {override.id.startsWith('site_') ? (
          <a
            class="link mono cut-cell"
            href={`/console/server/sites?site=${encodeURIComponent(override.id)}`}
          >
            {override.id}
          </a>
        ) : (
          <CopyId id={override.id} what="id" full />
        )}
      </td>
      <td class="soft" data-name="Kind">
        {SCOPE_WORDS[override.scope] ?? override.scope}
      </td>
      <td class="fit" data-name="Override">
        {Object.entries(override.limits)
          .map(([name, limit]) => `${formatNumber(limit)}/${WINDOW_WORDS[name] ?? name}`)
          .join(', ')}
      </td>
      <td class="use-cell">
        {isCounted ? (
          <Usage scope={override.scope} id={override.id} />
        ) : (
          <span class="faint">Not counted by caller</span>
        )}
      </td>
      <td class="right soft fit" data-name="Set">
        {formatDay(Date.parse(override.created_at))}
      </td>
      <td class="right fit">
        <div class="buttons">
          {isCounted && (
            <ActionButton small run={props.onEdit} notAllowed={notAllowed}>
              <span>Change…</span>
            </ActionButton>
          )}
          <ActionButton small look="danger" run={props.onRemove} notAllowed={notAllowed}>
            <span>Remove…</span>
          </ActionButton>
        </div>
      </td>
    </tr>
  )
}

const NAMES: Record<string, string> = {
  minute: 'Minute',
  minutes: '5 min',
  hour: 'Hour',
  day: 'Day',
}

function Usage({ scope, id }: { scope: string; id: string }) {
  const state = useResource((abort) => limits.state(scope, id, abort))
  return (
    <Loaded resource={state} what="the use" loading={<span class="faint">…</span>}>
      {(found) => (
        <>
          {found.limits.map(({ name, used, limit }) => (
            <LimitLine name={NAMES[name] ?? name} used={used} limit={limit} key={name} />
          ))}
        </>
      )}
    </Loaded>
  )
}

function ChooseDialog(props: {
  onClose: () => void
  onChosen: (chosen: { scope: string; id: string }) => void
}) {
  const scope = useSignal('api')
  const id = useSignal('')
  const isSite = ['api', 'webhook', 'update_check'].includes(scope.value)
  const pattern = isSite ? /^site_[A-Za-z0-9_-]{16}$/ : /^ip_[A-Za-z0-9_-]{22}$/
  const isReady = pattern.test(id.value.trim())
  return (
    <Dialog
      title="Set a limit"
      onClose={props.onClose}
      onSubmit={() => isReady && props.onChosen({ scope: scope.value, id: id.value.trim() })}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>Cancel</span>
          </button>
          <button class="button button-primary" type="submit" disabled={!isReady}>
            <span>Continue</span>
          </button>
        </>
      }
    >
      <Field label="Kind of request">
        {(ids) => (
          <select
            class="select"
            {...ids}
            value={scope.value}
            onChange={(event) => (scope.value = event.currentTarget.value)}
          >
            {COUNTED.map((each) => (
              <option value={each} key={each}>
                {SCOPE_WORDS[each]}
              </option>
            ))}
          </select>
        )}
      </Field>
      <TextField
        label={isSite ? 'Site id' : 'Address, as security events show it'}
        class="input mono"
        placeholder={isSite ? 'site_…' : 'ip_…'}
        autocomplete="off"
        spellcheck={false}
        value={id.value}
        onInput={(value) => (id.value = value)}
      />
      <p class="hint">
        For domains, hosts and agencies use the command, such as “strongroom rate-limits set agency
        agency_… --minute 600”.
      </p>
    </Dialog>
  )
}
