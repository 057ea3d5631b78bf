/** The text of a secret, until its reader hides it. */
import type { OpenedSecret } from '../../client/open-secret.ts'
import { formatTarget, type LinkTarget } from '../../crypto/link.ts'
import { button } from './controls.ts'
import { copyButton } from './copy.ts'
import { element } from './dom.ts'
import { duration } from './format.ts'
import { keep } from './kept.ts'
import { bind, plural, say, text } from './language.ts'
import { warnWhile } from './leaving.ts'
import { showMessage } from './message-view.ts'
import { api } from './server.ts'
import { show } from './stage.ts'

/** What a reload may take: a request that came too late would be another view. */
const REQUEST_SECONDS = 2

export function showShown(
  target: LinkTarget & { kind: 'secret' },
  claim: string,
  { text: secret, remainingViews, graceSeconds }: OpenedSecret,
) {
  const windowMs = (graceSeconds - REQUEST_SECONDS) * 1000
  const until = Date.now() + windowMs
  // What cannot be kept for a reload is on this page only, from now on.
  const isKept = keep({ kind: 'open', target: formatTarget(target), claim, until })
  const endsAt = performance.now() + (isKept ? windowMs : 0)
  /** By both clocks: one may be set back, the other stands still while the machine sleeps. */
  const leftMs = () => Math.min(until - Date.now(), endsAt - performance.now())
  const views = () =>
    remainingViews > 0 ? plural('shown.more', remainingViews) : text('shown.last')
  // A reload brings it back for a while; after that, what is not taken along is lost.
  let isTaken = false
  warnWhile(() => !isTaken && leftMs() <= 0)

  const content = bind(element('pre', { class: 'secret', tabindex: '0', dir: 'auto' }), (shown) =>
    shown.setAttribute('aria-label', text('shown.secret')),
  )
  content.textContent = secret
  content.addEventListener('copy', () => {
    isTaken = true
  })
  const rest = element('p', { class: 'hint rest' })
  const copy = copyButton({
    label: 'shown.copy',
    class: 'button-primary',
    what: () => secret,
    from: content,
    onCopied() {
      isTaken = true
    },
  })
  const hide = button('shown.hide', () => {
    keep({ kind: 'hidden' })
    end()
    content.remove()
    showMessage({ title: 'hidden.title', text: 'hidden.text' })
  })

  /** The reader has it: the server need not keep it. If it does not hear of that, it ends it by itself. */
  function end() {
    clearInterval(ticking)
    api.ack(target.id, claim).catch(() => {})
  }

  function tick() {
    // Another link was opened in this tab: what is kept is of that one.
    if (!content.isConnected) return end()
    const seconds = Math.ceil(leftMs() / 1000)
    if (seconds > 0) {
      say(rest, () => text('shown.window', { time: duration(seconds) }))
      return
    }
    keep({ kind: 'hidden' })
    end()
    say(rest, 'shown.only')
  }
  const ticking = setInterval(tick, 1000)

  show({
    name: 'shown',
    title: 'shown.title',
    lede: views,
    plate: element(
      'div',
      { class: 'shown' },
      content,
      element('div', { class: 'foot' }, rest, copy.button, hide, copy.problem),
    ),
  })
  tick()
  // Put aside, it may come back and read again: it does not tell the server that it is done.
  const putAside = () => {
    clearInterval(ticking)
    content.remove()
    warnWhile(() => false)
  }
  addEventListener('pagehide', putAside, { once: true })
}
