/** Adds an operator, or changes what one may do. */
import { useSignal } from '@preact/signals'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { hasCode, messageOf } from '../../api/errors.ts'
import { runningServices } from '../../pages.ts'

export const ROLES = {
  viewer: 'Reads everything but secrets',
  editor: 'Reads and changes',
  admin: 'Reads, changes, manages operators, resets passwords, changes destinations and upstreams',
} as const
export type Role = keyof typeof ROLES

export interface Rights {
  role: Role
  /** Null for all. */
  services: string[] | null
  /** Null for never. */
  expiresAt: string | null
}

const ALL_SERVICES = ['sealed', 'ferryhook', 'form-bridge', 'key-store', 'two-key']

export function RightsDialog(props: {
  title: string
  submit: string
  keep: string
  /** Undefined for a new operator, which needs a name. */
  rights?: Rights
  run: (rights: Rights & { name: string }) => Promise<void>
  onClose: () => void
}) {
  const { rights } = props
  const name = useSignal('')
  const role = useSignal<Role>(rights?.role ?? 'viewer')
  const isLimited = useSignal(rights?.services != null)
  const services = useSignal<readonly string[]>(rights?.services ?? [])
  const expires = useSignal(toLocalTime(rights?.expiresAt ?? null))
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const hasNoService = isLimited.value && services.value.length === 0

  const run = async () => {
    if (isBusy.value || hasNoService) return
    isBusy.value = true
    error.value = undefined
    try {
      await props.run({
        name: name.value.trim(),
        role: role.value,
        services: isLimited.value ? [...services.value] : null,
        expiresAt: expires.value === '' ? null : new Date(expires.value).toISOString(),
      })
      props.onClose()
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const toggle = (service: string) => {
    const held = services.value
    services.value = held.includes(service)
      ? held.filter((each) => each !== service)
      : [...held, service]
  }
  const isNameRefused = hasCode(error.value, 'operator.invalid_name', 'operator.exists')
  const nameProblem = isNameRefused ? messageOf(error.value) : fieldProblem(error.value, 'name')
  return (
    <Dialog
      title={props.title}
      onClose={props.onClose}
      onSubmit={() => void run()}
      foot={
        <>
          <button class="button" type="button" onClick={props.onClose}>
            <span>{props.keep}</span>
          </button>
          <button
            class="button button-primary"
            type="submit"
            aria-disabled={isBusy.value || hasNoService}
            title={hasNoService ? 'Choose at least one service' : undefined}
          >
            <span>{props.submit}</span>
          </button>
        </>
      }
    >
      <div class="form">
        {rights === undefined && (
          <TextField
            label="Name"
            hint="A person or a program: lower-case letters, digits and hyphens"
            class="input mono"
            autocomplete="off"
            autofocus
            required
            maxLength={32}
            value={name.value}
            problem={nameProblem}
            onInput={(value) => (name.value = value)}
          />
        )}
        <fieldset class="field">
          <legend class="label">Role</legend>
          <div class="checks">
            {(Object.keys(ROLES) as Role[]).map((each) => (
              <label class="line-field" key={each}>
                <input
                  class="check"
                  type="radio"
                  name="role"
                  checked={role.value === each}
                  onChange={() => (role.value = each)}
                />
                <span>
                  <b class="strong">{each}</b> <span class="soft small">{ROLES[each]}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
        <fieldset class="field">
          <legend class="label">Services</legend>
          <div class="checks">
            <label class="line-field">
              <input
                class="check"
                type="checkbox"
                checked={!isLimited.value}
                onChange={(event) => (isLimited.value = !event.currentTarget.checked)}
              />
              <span>All, and the server itself</span>
            </label>
          </div>
          {isLimited.value && (
            <div class="checks service-checks">
              {(runningServices.value ?? ALL_SERVICES).map((service) => (
                <label class="line-field" key={service}>
                  <input
                    class="check"
                    type="checkbox"
                    checked={services.value.includes(service)}
                    onChange={() => toggle(service)}
                  />
                  <span>{service}</span>
                </label>
              ))}
            </div>
          )}
        </fieldset>
        <Field label="Expires" hint="The token and sessions end then. Empty for never.">
          {(ids) => (
            <input
              {...ids}
              class="input"
              type="datetime-local"
              value={expires.value}
              onInput={(event) => (expires.value = event.currentTarget.value)}
            />
          )}
        </Field>
        {error.value !== undefined && nameProblem === undefined && (
          <Problem>{messageOf(error.value)}</Problem>
        )}
      </div>
    </Dialog>
  )
}

/** As the field shows it: local time to the minute. */
function toLocalTime(iso: string | null): string {
  if (iso === null) return ''
  const date = new Date(iso)
  const local = new Date(date.getTime() - date.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
