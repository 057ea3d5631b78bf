/** Shows a secret until the reader hides it. */
import type { OpenedSecret } from '../../../client/open-secret.ts'
import { type FileContent, isFile } from '../../../crypto/content.ts'
import { api } from '../api.ts'
import { button } from '../controls.ts'
import { copyButton } from '../copy.ts'
import { element } from '../dom.ts'
import { fileCard } from '../file-card.ts'
import { formatDuration } from '../format.ts'
import { onLanguageChange, plural, setText, text } from '../language.ts'
import { showScreen } from '../layout.ts'
import { warnBeforeUnload } from '../navigation.ts'
import { saveFile } from '../save-file.ts'
import { type StoredLink, storeLink } from '../stored-link.ts'
import { showHidden } from './message.ts'

/** Time for a reload and its request; a late request would use another view. */
const RELOAD_SECONDS = 2

/** `link` is as it arrived: without a key that was typed. */
export function showSecret(
  link: StoredLink & { kind: 'open'; id: string },
  { content, remainingViews, graceSeconds }: OpenedSecret,
) {
  const windowMs = (graceSeconds - RELOAD_SECONDS) * 1000
  const until = Date.now() + windowMs
  // If it cannot be stored for a reload, it exists only on this page from now on.
  const { id, target, claim } = link
  const isStored = storeLink({ kind: 'open', target, claim, until })
  const endsAt = performance.now() + (isStored ? windowMs : 0)
  /** Uses both clocks: one may be set back, the other stops while the machine sleeps. */
  const remainingMs = () => Math.min(until - Date.now(), endsAt - performance.now())
  const views = () =>
    remainingViews > 0 ? plural('shown.more', remainingViews) : text('shown.last')
  // Until the window ends a reload shows the secret again; after that, leaving loses it.
  let isSaved = false
  warnBeforeUnload(() => !isSaved && remainingMs() <= 0)

  const onSaved = () => {
    isSaved = true
  }
  const shown = isFile(content) ? showFile(content, onSaved) : showText(content, onSaved)
  const windowText = element('p', { class: 'hint rest' })
  const hide = button('shown.hide', () => {
    storeLink({ kind: 'hidden' })
    acknowledge()
    shown.element.remove()
    showHidden()
  })

  /** Lets the server delete the secret early. If this fails, the server deletes it at its deadline. */
  function acknowledge() {
    clearInterval(interval)
    api.ack(id, claim).catch(() => {})
  }

  function tick() {
    // Another link was opened in this tab, and the stored link is that one.
    if (!shown.element.isConnected) return acknowledge()
    const seconds = Math.ceil(remainingMs() / 1000)
    if (seconds > 0) {
      setText(windowText, () => text('shown.window', { time: formatDuration(seconds) }))
      return
    }
    storeLink({ kind: 'hidden' })
    acknowledge()
    setText(windowText, 'shown.only')
  }
  const interval = setInterval(tick, 1000)

  showScreen({
    name: 'shown',
    title: 'shown.title',
    intro: views,
    content: element(
      'div',
      { class: 'shown' },
      shown.element,
      element('div', { class: 'foot' }, windowText, shown.button, hide, ...shown.errors),
    ),
  })
  tick()
  // The tab may come back and read again, so this does not acknowledge.
  const onPageHide = () => {
    clearInterval(interval)
    shown.element.remove()
    warnBeforeUnload(() => false)
  }
  addEventListener('pagehide', onPageHide, { once: true })
}

interface ShownContent {
  element: HTMLElement
  /** Takes the content out of the page. */
  button: HTMLButtonElement
  errors: readonly HTMLElement[]
}

function showText(secret: string, onSaved: () => void): ShownContent {
  const shown = onLanguageChange(
    element('pre', { class: 'secret', tabindex: '0', dir: 'auto' }),
    (target) => target.setAttribute('aria-label', text('shown.secret')),
  )
  shown.textContent = secret
  shown.addEventListener('copy', onSaved)
  const copy = copyButton({
    label: 'shown.copy',
    class: 'button-primary',
    text: () => secret,
    from: shown,
    onCopied: onSaved,
  })
  return { element: shown, button: copy.button, errors: [copy.error] }
}

function showFile(file: FileContent, onSaved: () => void): ShownContent {
  const save = button(
    'shown.save',
    () => {
      saveFile(file)
      onSaved()
    },
    'button button-primary',
  )
  const shown = element(
    'div',
    { class: 'secret-file' },
    fileCard(file),
    setText(element('p', { class: 'hint' }), 'shown.fileHint'),
  )
  return { element: shown, button: save, errors: [] }
}
