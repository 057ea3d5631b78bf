/** Forms of an agency: its site limit, a new join token, and its role for a site. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { agencies, type AgencyLine, type AgencySiteLine } from '../../api/form-bridge.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { OnceSecretDialog } from '../../parts/once-secret.tsx'
import { showToast } from '../../shell/toasts.tsx'

const ROLES = ['owner', 'member', 'viewer'] as const
const ROLE_TEXTS = {
  owner: 'owner: read, confirm, set the destination, remove',
  member: 'member: read and confirm',
  viewer: 'viewer: read',
} as const

const DAY = 86_400
const LIFETIMES = [
  ['1 day', DAY, '1d'],
  ['7 days', 7 * DAY, '7d'],
  ['30 days', 30 * DAY, '30d'],
  ['1 year', 365 * DAY, '365d'],
] as const

/** Runs the change of a form: busy while it runs, and the form stays open with the problem. */
function useChange(onClose: () => void) {
  const isBusy = useSignal(false)
  const error = useSignal<unknown>(undefined)
  return {
    isBusy,
    error,
    async run(work: () => Promise<unknown>, { closes = true } = {}) {
      if (isBusy.value) return
      isBusy.value = true
      error.value = undefined
      try {
        await work()
        if (closes) onClose()
      } catch (thrown) {
        error.value = thrown
      } finally {
        isBusy.value = false
      }
    },
  }
}

function Buttons(props: { keep: string; confirm: string; onKeep: () => void; isReady: boolean }) {
  return (
    <>
      <button class="button" type="button" onClick={props.onKeep}>
        <span>{props.keep}</span>
      </button>
      <button class="button button-primary" type="submit" disabled={!props.isReady}>
        <span>{props.confirm}</span>
      </button>
    </>
  )
}

export function LimitForm(props: {
  agency: AgencyLine
  onClose: () => void
  onDone: (changed: AgencyLine) => void
}) {
  const { agency, onClose } = props
  const max = useSignal(String(agency.max_sites))
  const { isBusy, error, run } = useChange(onClose)
  const isNumber = /^\d{1,7}$/.test(max.value.trim()) && Number(max.value) <= 1_000_000
  const set = () =>
    run(async () =>
      props.onDone(await agencies.update(agency.agency_id, { max_sites: Number(max.value) })),
    )
  return (
    <Dialog
      title={`Site limit of ${agency.agency_name}`}
      onClose={onClose}
      onSubmit={() => isNumber && void set()}
      foot={
        <Buttons
          keep="Keep limit"
          confirm="Set limit"
          onKeep={onClose}
          isReady={isNumber && !isBusy.value}
        />
      }
    >
      <p>A limit below the present number of sites removes none, but lets no new site in.</p>
      <TextField
        label="Sites"
        inputMode="numeric"
        value={max.value}
        onInput={(value) => (max.value = value)}
        problem={
          isNumber
            ? fieldProblem(error.value, 'max_sites')
            : 'Enter a whole number from 0 to 1,000,000'
        }
      />
      <Command
        text={`strongroom agencies change ${agency.agency_id} --max-sites ${max.value.trim() || '…'}`}
      />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}

export function NewToken(props: { agency: AgencyLine; onClose: () => void; onDone: () => void }) {
  const { agency, onClose } = props
  const role = useSignal<string>('owner')
  const uses = useSignal('1')
  const lifetime = useSignal<string>('1d')
  const created = useSignal<string | undefined>(undefined)
  const { isBusy, error, run } = useChange(onClose)
  const isNumber = /^[1-9]\d{0,4}$/.test(uses.value.trim()) && Number(uses.value) <= 10_000
  const create = () =>
    run(
      async () => {
        const expires_in = LIFETIMES.find(([, , name]) => name === lifetime.value)?.[1] ?? DAY
        const token = await agencies.createToken(agency.agency_id, {
          role: role.value,
          max_uses: Number(uses.value),
          expires_in,
        })
        created.value = token.token
        props.onDone()
      },
      { closes: false },
    )
  if (created.value !== undefined)
    return (
      <OnceSecretDialog
        title="New join token"
        text="Enter it on the settings page of the plugin, or pass it to “wp form-bridge connect --join-token=…”. It is shown only now."
        secret={created.value}
        onClose={onClose}
      />
    )
  return (
    <Dialog
      title={`New join token of ${agency.agency_name}`}
      onClose={onClose}
      onSubmit={() => isNumber && void create()}
      foot={
        <Buttons
          keep="Cancel"
          confirm="Create token"
          onKeep={onClose}
          isReady={isNumber && !isBusy.value}
        />
      }
    >
      <RoleField value={role.value} onChange={(value) => (role.value = value)} />
      <TextField
        label="Sites that can join with it"
        inputMode="numeric"
        value={uses.value}
        onInput={(value) => (uses.value = value)}
        problem={
          isNumber ? fieldProblem(error.value, 'max_uses') : 'Enter a whole number from 1 to 10,000'
        }
      />
      <Field label="Valid for">
        {(ids) => (
          <select
            class="select"
            {...ids}
            value={lifetime.value}
            onChange={(event) => (lifetime.value = event.currentTarget.value)}
          >
            {LIFETIMES.map(([label, , name]) => (
              <option value={name} key={name}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      <Command
        text={`strongroom agencies invite ${agency.agency_id} --role ${role.value} --uses ${uses.value.trim() || '1'} --expires ${lifetime.value}`}
      />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}

function RoleField({ value, onChange }: { value: string; onChange: (role: string) => void }) {
  return (
    <Field label="Role" hint="What the key of the agency may do with these sites.">
      {(ids) => (
        <select
          class="select"
          {...ids}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        >
          {ROLES.map((role) => (
            <option value={role} key={role}>
              {ROLE_TEXTS[role]}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

export function RoleForm(props: {
  agency: AgencyLine
  site: AgencySiteLine
  onClose: () => void
  onDone: () => void
}) {
  const { agency, site, onClose } = props
  const role = useSignal<string>(site.role)
  const { isBusy, error, run } = useChange(onClose)
  const set = () =>
    run(async () => {
      const chosen = ROLES.find((each) => each === role.value) ?? site.role
      await agencies.setRole(agency.agency_id, site.site_id, chosen)
      showToast({ text: `The agency is ${chosen} of ${site.domain}` })
      props.onDone()
    })
  return (
    <Dialog
      title={`Role for ${site.domain}`}
      onClose={onClose}
      onSubmit={() => void set()}
      foot={
        <Buttons
          keep="Keep role"
          confirm="Set role"
          onKeep={onClose}
          isReady={role.value !== site.role && !isBusy.value}
        />
      }
    >
      <p>An owner can change where the submissions of the site go.</p>
      <RoleField value={role.value} onChange={(value) => (role.value = value)} />
      <Command
        text={`strongroom agencies role ${agency.agency_id} ${site.site_id} ${role.value}`}
      />
      {error.value !== undefined && <Problem>{messageOf(error.value)}</Problem>}
    </Dialog>
  )
}
