/** Dialogs of a source: its name, and a new signing secret with an overlap. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { type Source, V1 } from '../../api/ferryhook.ts'
import { request } from '../../api/request.ts'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { showToast } from '../../shell/toasts.tsx'
import { providerOf } from './providers.ts'

interface DialogProps {
  source: Source
  onClose: () => void
  onChanged: () => void
}

export function EditSourceDialog({ source, onClose, onChanged }: DialogProps) {
  const name = useSignal(source.name)
  const error = useSignal<unknown>(undefined)
  const save = async () => {
    error.value = undefined
    try {
      await request('PATCH', `${V1}/sources/${source.id}`, { json: { name: name.value } })
      onChanged()
      onClose()
    } catch (thrown) {
      error.value = thrown
    }
  }
  const problem =
    fieldProblem(error.value, 'name') ??
    (error.value === undefined ? undefined : messageOf(error.value))
  return (
    <Dialog
      title="Rename source"
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Keep name</span>
          </button>
          <button class="button button-primary" type="submit">
            <span>Rename</span>
          </button>
        </>
      }
    >
      <TextField
        label="Name"
        maxLength={100}
        value={name.value}
        onInput={(value) => (name.value = value)}
        problem={problem}
      />
    </Dialog>
  )
}

const OVERLAPS: readonly (readonly [seconds: number, text: string])[] = [
  [0, 'Immediately'],
  [3_600, 'After 1 hour'],
  [86_400, 'After 24 hours'],
  [604_800, 'After 7 days'],
]

const DEFAULT_OVERLAP = 86_400

export function OverlapField({
  value,
  onChange,
}: {
  value: number
  onChange: (seconds: number) => void
}) {
  return (
    <Field label="The current secret ends" hint="Until then both are accepted.">
      {(ids) => (
        <select
          {...ids}
          class="select"
          value={String(value)}
          onChange={(event) => onChange(Number(event.currentTarget.value))}
        >
          {OVERLAPS.map(([seconds, text]) => (
            <option value={String(seconds)} key={seconds}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** Rotates the secret with an overlap, or sets the first one. */
export function RotateSecretDialog({ source, onClose, onChanged }: DialogProps) {
  const secret = useSignal('')
  const overlapSeconds = useSignal(DEFAULT_OVERLAP)
  const error = useSignal<unknown>(undefined)
  const provider = providerOf(source.provider)
  const isFirst = !source.hasSigningSecret
  const save = async () => {
    error.value = undefined
    try {
      const json = { signingSecret: secret.value }
      if (isFirst)
        await request('PATCH', `${V1}/sources/${source.id}`, {
          json: {
            ...json,
            ...(source.signingAlgorithm === 'none' &&
              source.provider !== 'custom' && { signingAlgorithm: source.provider }),
          },
        })
      else {
        await request('POST', `${V1}/sources/${source.id}/rotate-secret`, {
          json: { ...json, overlapSeconds: overlapSeconds.value },
        })
      }
      showToast({ text: isFirst ? 'The secret was set' : 'The secret was rotated' })
      onChanged()
      onClose()
    } catch (thrown) {
      error.value = thrown
    }
  }
  const problem = fieldProblem(error.value, 'signingSecret')
  return (
    <Dialog
      title={isFirst ? 'Set the signing secret' : 'Rotate the signing secret'}
      onClose={onClose}
      onSubmit={() => void save()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>{isFirst ? 'Leave unverified' : 'Keep current secret'}</span>
          </button>
          <button class="button button-primary" type="submit">
            <span>{isFirst ? 'Set secret' : 'Rotate secret'}</span>
          </button>
        </>
      }
    >
      <TextField
        label={provider?.secretLabel ?? 'Signing secret'}
        type="password"
        autocomplete="off"
        required
        maxLength={1024}
        value={secret.value}
        onInput={(value) => (secret.value = value)}
        hint={provider?.secretHint}
        problem={problem}
      />
      {!isFirst && (
        <OverlapField
          value={overlapSeconds.value}
          onChange={(seconds) => (overlapSeconds.value = seconds)}
        />
      )}
      {error.value !== undefined && problem === undefined && (
        <Problem>{messageOf(error.value)}</Problem>
      )}
    </Dialog>
  )
}
