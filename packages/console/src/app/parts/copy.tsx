/** Ids, commands and addresses that copy with one click. */
import { useSignal } from '@preact/signals'
import { shortId } from './format.ts'
import { Icon } from './icon.tsx'
import { showToast } from '../shell/toasts.tsx'

const SHOWN_MS = 1_500

export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    showToast({
      text: 'The browser did not allow to copy. Select the text and copy it.',
      tone: 'warn',
    })
    return false
  }
}

function useCopy(text: string) {
  const isCopied = useSignal(false)
  const copy = async () => {
    if (!(await copyText(text))) return
    isCopied.value = true
    setTimeout(() => (isCopied.value = false), SHOWN_MS)
  }
  return { isCopied, copy }
}

/** An id, cut in the middle where it is long. */
export function CopyId({
  id,
  what = 'id',
  full = false,
}: {
  id: string
  what?: string
  full?: boolean
}) {
  const { isCopied, copy } = useCopy(id)
  return (
    <button class="copy mono" type="button" title={id} onClick={() => void copy()}>
      <span class="cut">{full ? id : shortId(id)}</span>
      <Icon name={isCopied.value ? 'check' : 'copy'} />
      <span class="unseen">{isCopied.value ? 'Copied' : `Copy ${what}`}</span>
    </button>
  )
}

/** A button with only an icon that copies a longer text. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const { isCopied, copy } = useCopy(text)
  return (
    <button
      class="button button-icon button-quiet button-small"
      type="button"
      aria-label={isCopied.value ? 'Copied' : label}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isCopied.value ? 'check' : 'copy'} />
    </button>
  )
}

/** A command of the shell; `plain` for other text, such as an address. */
export function Command({ text, plain = false }: { text: string; plain?: boolean }) {
  return (
    <div class={plain ? 'command command-plain' : 'command'}>
      {/* A long one scrolls, also with the keyboard. */}
      <code tabIndex={0}>{text}</code>
      <CopyButton text={text} label={plain ? 'Copy' : 'Copy command'} />
    </div>
  )
}
