/** The list of keys, opened with `?`. */
import { useSignal } from '@preact/signals'
import { Dialog } from '../parts/dialog.tsx'
import { bindings, MOD_LABEL, useKeys } from './keyboard.ts'

export function KeyList() {
  const isOpen = useSignal(false)
  useKeys([{ keys: '?', label: 'List of keys', run: () => (isOpen.value = true) }])
  if (!isOpen.value) return null
  const close = () => (isOpen.value = false)
  const seen = new Set<string>()
  const shown = bindings.value.filter(({ keys }) => !seen.has(keys) && seen.add(keys))
  return (
    <Dialog
      title="Keys"
      onClose={close}
      onSubmit={close}
      foot={
        <button class="button button-primary" type="submit">
          <span>Close</span>
        </button>
      }
    >
      <dl class="facts">
        {shown.map(({ keys, label }) => (
          <div class="key-line" key={keys}>
            <dt>
              {keys.split(/[+ ]/).map((key) => (
                <kbd key={key}>{key === 'Mod' ? MOD_LABEL : key}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}
