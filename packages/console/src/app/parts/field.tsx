/** Fields of forms: label, hint and problem are connected to the control. */
import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ApiFailure } from '../api/errors.ts'
import { Icon } from './icon.tsx'

export interface FieldIds {
  id: string
  'aria-describedby': string | undefined
  'aria-invalid': 'true' | undefined
}

export function Field(props: {
  label: ComponentChildren
  hint?: ComponentChildren
  problem?: string | undefined
  /** Right of the label, such as a link. */
  aside?: ComponentChildren
  /** Renders the control with the attributes that connect it. */
  children: (ids: FieldIds) => ComponentChildren
}) {
  const { label, hint, problem, aside } = props
  const id = useId()
  const described = [hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`]
  const ids: FieldIds = {
    id,
    'aria-describedby': described.filter(Boolean).join(' ') || undefined,
    'aria-invalid': problem === undefined ? undefined : 'true',
  }
  const name = (
    <label class="label" for={id}>
      {label}
    </label>
  )
  return (
    <div class="field">
      {aside === undefined ? (
        name
      ) : (
        <div class="line-field">
          {name} {aside}
        </div>
      )}
      {props.children(ids)}
      {hint !== undefined && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && <Problem id={`${id}-problem`}>{problem}</Problem>}
    </div>
  )
}

interface InputProps {
  autocomplete?: string
  autofocus?: boolean
  class?: string
  disabled?: boolean
  inputMode?: 'numeric' | 'text' | 'url' | 'email'
  maxLength?: number
  name?: string
  placeholder?: string
  readOnly?: boolean
  required?: boolean
  spellcheck?: boolean
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'search'
}

/** A text field. */
export function TextField(
  props: InputProps & {
    label: ComponentChildren
    value: string
    onInput: (value: string) => void
    hint?: ComponentChildren
    problem?: string | undefined
    aside?: ComponentChildren
  },
) {
  const { label, value, onInput, hint, problem, aside, type = 'text', ...rest } = props
  const { class: className = 'input', ...attributes } = rest
  // Elements have one type per kind of input; none of the differences matters here.
  const control = { ...attributes, type } as { type: 'text' }
  return (
    <Field label={label} hint={hint} problem={problem} aside={aside}>
      {(ids) => (
        <input
          {...control}
          {...ids}
          class={className}
          value={value}
          onInput={(event) => onInput(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** Why something was rejected; announced when it appears. */
export function Problem({ id, children }: { id?: string; children: ComponentChildren }) {
  return (
    <p class="problem" id={id} role="alert">
      <Icon name="close" />
      <span>{children}</span>
    </p>
  )
}

/** What the server says about one field of the request body, such as `name`. */
export function fieldProblem(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiFailure)) return undefined
  return error.details.find(({ path }) => path === `body.${field}` || path === field)?.message
}
