/** Copying, and fields whose text is there to be copied. */
import { problemOf } from './controls.ts'
import { element, newId } from './dom.ts'
import { say, text, type TextKey } from './language.ts'
import { announce } from './stage.ts'

interface CopyOptions {
  label: TextKey
  class?: string
  what: () => string
  /** The element that holds the text, for browsers that do not allow copying. */
  from: HTMLElement
  onCopied?: () => void
}

export interface CopyButton {
  button: HTMLButtonElement
  /** That the browser does not allow it, once it did not. */
  problem: HTMLElement
}

export function copyButton(options: CopyOptions): CopyButton {
  const label = say(element('span'), options.label)
  const button = element(
    'button',
    { type: 'button', class: `button ${options.class ?? ''}` },
    label,
  )
  const problem = problemOf(button)
  let timer: ReturnType<typeof setTimeout> | undefined
  async function copy() {
    const isCopied = await copied(options.what())
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
  return { button, problem: problem.element }
}

/** A text that is not to be changed, with its label and a button that copies it. */
export function copyField(options: {
  label: TextKey
  /** Whether the label is only heard, because the text around says the same. */
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
  const label = say(element('label', { for: id, ...seen }), options.label)
  const { button, problem } = copyButton({
    label: 'copy.copy',
    ...options.copy,
    what: () => options.value,
    from: input,
    ...(options.onCopied && { onCopied: options.onCopied }),
  })
  const described = options.hint && say(element('p', { class: 'hint', id: `${id}h` }), options.hint)
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

async function copied(what: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(what)
    return true
  } catch {
    return false
  }
}

/** So that the keys for copying copy it. */
function select(from: HTMLElement) {
  from.focus()
  if (from instanceof HTMLInputElement) return from.select()
  getSelection()?.selectAllChildren(from)
}
