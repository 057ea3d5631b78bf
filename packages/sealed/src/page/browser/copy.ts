/** Copy buttons, and read-only fields with one. */
import { fieldError } from './controls.ts'
import { element, newId } from './dom.ts'
import { setText, text, type TextKey } from './language.ts'
import { announce } from './layout.ts'

interface CopyOptions {
  label: TextKey
  class?: string
  text: () => string
  /** The element with the text, which is selected where the browser blocks copying. */
  from: HTMLElement
  onCopied?: () => void
}

export interface CopyButton {
  button: HTMLButtonElement
  /** Says that the browser blocked copying. */
  error: HTMLElement
}

export function copyButton(options: CopyOptions): CopyButton {
  const label = setText(element('span'), options.label)
  const button = element(
    'button',
    { type: 'button', class: `button ${options.class ?? ''}` },
    label,
  )
  const problem = fieldError(button)
  let timer: ReturnType<typeof setTimeout> | undefined
  async function copy() {
    const isCopied = await copyToClipboard(options.text())
    announce(text(isCopied ? 'copy.copied' : 'copy.failed'))
    if (!isCopied) {
      problem.set('copy.failed')
      select(options.from)
      return
    }
    problem.clear()
    options.onCopied?.()
    label.textContent = text('copy.copied')
    button.classList.add('is-done')
    clearTimeout(timer)
    timer = setTimeout(() => {
      label.textContent = text(options.label)
      button.classList.remove('is-done')
    }, 2000)
  }
  button.addEventListener('click', () => void copy())
  return { button, error: problem.element }
}

/** A read-only text with a label and a copy button. */
export function copyField(options: {
  label: TextKey
  /** Only for screen readers, where the text around it says the same. */
  isLabelUnseen?: boolean
  value: string
  hint?: TextKey
  copy?: Pick<CopyOptions, 'label' | 'class'>
  onCopied?: () => void
}): HTMLElement {
  const id = newId()
  const input = element('input', {
    id,
    class: 'input code',
    type: 'text',
    readonly: true,
    spellcheck: 'false',
    autocomplete: 'off',
  })
  input.value = options.value
  input.addEventListener('focus', () => input.select())
  if (options.onCopied) input.addEventListener('copy', options.onCopied)
  const seen = options.isLabelUnseen ? { class: 'unseen' } : {}
  const label = setText(element('label', { for: id, ...seen }), options.label)
  const { button, error: problem } = copyButton({
    label: 'copy.copy',
    ...options.copy,
    text: () => options.value,
    from: input,
    ...(options.onCopied && { onCopied: options.onCopied }),
  })
  const described =
    options.hint && setText(element('p', { class: 'hint', id: `${id}h` }), options.hint)
  if (described) input.setAttribute('aria-describedby', described.id)
  return element(
    'div',
    { class: 'field' },
    label,
    ...(described ? [described] : []),
    element('div', { class: 'with-button' }, input, button),
    problem,
  )
}

async function copyToClipboard(content: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(content)
    return true
  } catch {
    return false
  }
}

/** So that the keyboard shortcut copies it. */
function select(from: HTMLElement) {
  from.focus()
  if (from instanceof HTMLInputElement) return from.select()
  getSelection()?.selectAllChildren(from)
}
