/** What to seal: a typed text, or a file that was chosen or dropped anywhere on the page. */
import { type Content, contentBytes, type FileContent } from '../../../crypto/content.ts'
import { SealedError } from '../../../crypto/errors.ts'
import { sanitizeFileName } from '../../../crypto/file-name.ts'
import { MAX_CONTENT_BYTES } from '../../../crypto/padding.ts'
import { button, fieldError } from '../controls.ts'
import { element, newId } from '../dom.ts'
import { fileCard } from '../file-card.ts'
import { formatNumber } from '../format.ts'
import { setText, text, type TextKey } from '../language.ts'
import { announce } from '../layout.ts'
import { secretTextField } from './secret-text.ts'

export interface SecretContentField {
  element: HTMLElement
  /** For the text. */
  input: HTMLTextAreaElement
  isEmpty: () => boolean
  /** Undefined if it cannot be sealed; then the field shows why and has the focus. */
  value: () => Content | undefined
}

export function secretContentField(options: { acceptsFiles: boolean }): SecretContentField {
  const typed = secretTextField()
  if (!options.acceptsFiles) {
    return { ...typed, isEmpty: () => typed.input.value === '' }
  }
  let file: FileContent | undefined
  const id = newId()
  const input = element('input', { id, type: 'file', class: 'unseen', tabindex: '-1' })
  input.setAttribute('aria-hidden', 'true')
  const choose = button('file.choose', () => input.click(), 'button button-quiet')
  const problem = fieldError(choose)
  const chosen = element('div', { class: 'secret-field', hidden: true })
  const attach = element(
    'div',
    { class: 'attach' },
    choose,
    setText(element('p', { class: 'hint attach-drop' }), 'file.drop'),
    input,
    problem.element,
  )

  function show(next: FileContent | undefined) {
    file = next
    problem.clear()
    typed.element.hidden = file !== undefined
    attach.hidden = file !== undefined
    chosen.hidden = file === undefined
    if (!file) {
      chosen.replaceChildren()
      return choose.focus()
    }
    const remove = button('file.remove', () => show(undefined))
    chosen.replaceChildren(
      setText(element('p', { class: 'label' }), 'file.chosen'),
      fileCard(file),
      remove,
    )
    remove.focus()
    announce(text('file.announce', { name: file.name }))
  }

  function fail(errorText: TextKey | (() => string)) {
    problem.set(errorText)
    choose.focus()
  }

  async function take(files: readonly File[]) {
    const [picked, ...more] = files
    if (!picked) return
    if (more.length > 0) return fail('file.several')
    const tooLarge = () =>
      text('file.tooLarge', {
        size: formatNumber(picked.size),
        limit: formatNumber(MAX_CONTENT_BYTES),
      })
    // Not read if it cannot fit anyway.
    if (picked.size > MAX_CONTENT_BYTES) return fail(tooLarge)
    const bytes = await picked.arrayBuffer().catch(() => undefined)
    // A folder, or a file that was moved away meanwhile.
    if (!bytes) return fail('file.unreadable')
    const name = sanitizeFileName(picked.name)
    const next = { name, mediaType: picked.type, bytes: new Uint8Array(bytes) }
    if (!canSeal(next)) return fail(tooLarge)
    show(next)
  }

  input.addEventListener('change', () => {
    void take([...(input.files ?? [])])
    // So that the same file can be chosen again.
    input.value = ''
  })
  const whole = element('div', { class: 'secret-content' }, typed.element, attach, chosen)
  dropFields.set(whole, (files) => void take(files))

  return {
    element: whole,
    input: typed.input,
    isEmpty: () => file === undefined && typed.input.value === '',
    value: () => file ?? typed.value(),
  }
}

function canSeal(file: FileContent): boolean {
  try {
    contentBytes(file)
    return true
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    return false
  }
}

/** Fields and what they do with dropped files. One that was removed may come back, with a draft. */
const dropFields = new WeakMap<Element, (files: readonly File[]) => void>()

/** On the whole page: a browser would open a file that is dropped elsewhere, and the form would be lost. */
function listenForDrops(
  name: 'dragover' | 'dragleave' | 'drop',
  handle: (event: DragEvent, field: Element, isBusy: boolean) => void,
) {
  addEventListener(name, (event) => {
    const field = document.querySelector('.secret-content')
    const hasFiles = event.dataTransfer?.types.includes('Files') ?? false
    if (field && hasFiles) handle(event, field, field.closest('[inert]') !== null)
  })
}

function setHighlight(field: Element, isOver: boolean) {
  field.classList.toggle('is-over-drop', isOver)
}

listenForDrops('dragover', (event, field, isBusy) => {
  event.preventDefault()
  setHighlight(field, !isBusy)
})
listenForDrops('dragleave', ({ relatedTarget }, field, isBusy) =>
  setHighlight(field, relatedTarget !== null && !isBusy),
)
listenForDrops('drop', (event, field, isBusy) => {
  event.preventDefault()
  setHighlight(field, false)
  if (!isBusy) dropFields.get(field)?.([...(event.dataTransfer?.files ?? [])])
})
