/** Creates a branch key. */
import { useSignal } from '@preact/signals'
import { messageOf } from '../../api/errors.ts'
import { Command } from '../../parts/copy.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { fieldProblem, Problem, TextField } from '../../parts/field.tsx'
import { createKey } from './api.ts'

export function CreateDialog(props: { onClose: () => void; onCreated: (id: string) => void }) {
  const { onClose, onCreated } = props
  const id = useSignal('')
  const context = useSignal('')
  const error = useSignal<unknown>(undefined)
  const isBusy = useSignal(false)
  const pairs = parsePairs(context.value)
  const pairProblem =
    pairs === undefined ? 'Write name=value, several separated by commas' : undefined
  const create = async () => {
    if (pairs === undefined || isBusy.value) return
    isBusy.value = true
    try {
      const created = await createKey({
        ...(id.value !== '' && { id: id.value }),
        ...(pairs.length > 0 && { encryptionContext: Object.fromEntries(pairs) }),
      })
      onClose()
      onCreated(created.id)
    } catch (failure) {
      error.value = failure
    } finally {
      isBusy.value = false
    }
  }
  const shown = [
    'strongroom keys create',
    ...(id.value === '' ? [] : [`--id ${id.value}`]),
    ...(pairs ?? []).map(([name, value]) => `--context ${name}=${value}`),
  ]
  const idProblem = fieldProblem(error.value, 'id')
  return (
    <Dialog
      title="Create a branch key"
      onClose={onClose}
      onSubmit={() => void create()}
      foot={
        <>
          <button class="button" type="button" onClick={onClose}>
            <span>Not now</span>
          </button>
          <button class="button button-primary" type="submit" aria-disabled={isBusy.value}>
            <span>Create key</span>
          </button>
        </>
      }
    >
      <TextField
        label="Id"
        class="input mono"
        value={id.value}
        onInput={(value) => (id.value = value)}
        hint="Empty for a random one. Your own id needs encryption context."
        problem={idProblem}
        autocomplete="off"
        placeholder="orders:acme"
      />
      <TextField
        label="Encryption context"
        class="input mono"
        value={context.value}
        onInput={(value) => (context.value = value)}
        hint="Bound to the key permanently, and in plain text in the audit log of KMS: no secrets."
        problem={pairProblem}
        autocomplete="off"
        placeholder="tenant=acme, service=orders"
      />
      <Command text={shown.join(' ')} />
      {error.value !== undefined && idProblem === undefined && (
        <Problem>{messageOf(error.value)}</Problem>
      )}
    </Dialog>
  )
}

/** Undefined if it is not a list of pairs. */
function parsePairs(text: string): [string, string][] | undefined {
  const given = text
    .split(',')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '')
  const pairs = given.map((pair): [string, string] | undefined => {
    const at = pair.indexOf('=')
    return at < 1 ? undefined : [pair.slice(0, at), pair.slice(at + 1)]
  })
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined
}
