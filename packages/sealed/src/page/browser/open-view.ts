/** Where a secret is opened. */
import { SealedError } from '../../crypto/errors.ts'
import { parseFragment } from '../../crypto/fragment.ts'
import { formatTarget, type LinkTarget } from '../../crypto/link.ts'
import { unwrapped } from '../../crypto/pasted.ts'
import { problemOf } from './controls.ts'
import { element } from './dom.ts'
import { forget, keep, type Kept } from './kept.ts'
import { plural, text } from './language.ts'
import { warnWhile } from './leaving.ts'
import { showMessage } from './message-view.ts'
import { openGesture } from './open-gesture.ts'
import { open, type Opening } from './opening.ts'
import { passphraseProblem } from './passphrase-problem.ts'
import { secretInput } from './secret-input.ts'
import { showShown } from './shown-view.ts'
import { announce, show } from './stage.ts'

type Secret = LinkTarget & { kind: 'secret' }
type WithoutKey = LinkTarget & { kind: 'secret-without-key' }

export function showOpen(target: Secret | WithoutKey, kept: Kept & { kind: 'open' }) {
  let secret = target.kind === 'secret' ? target : undefined
  const key = secretInput({ label: 'open.key', hint: 'open.keyHint' })
  const passphrase = secretInput({
    label: 'open.passphrase',
    hint: 'open.passphraseHint',
    isConcealed: true,
  })
  const gesture = openGesture({
    fields: [key.input, passphrase.input],
    isReady,
    onOpen: () => void run(),
  })
  const problem = problemOf(gesture.button)
  key.element.hidden = target.kind === 'secret'
  passphrase.element.hidden = !needsPassphrase()
  key.input.addEventListener('input', () => {
    secret = withKey(target.id, unwrapped(key.input.value))
    passphrase.element.hidden = !needsPassphrase()
  })

  function needsPassphrase(): boolean {
    return secret?.fragment.passphraseProtected ?? false
  }

  function isReady(): boolean {
    problem.clear()
    if (!secret) {
      key.refuse(key.input.value === '' ? 'open.keyNeeded' : 'open.keyDamaged')
      return false
    }
    if (!needsPassphrase()) return true
    const why = passphraseProblem(passphrase.input.value, 'open.passphraseNeeded')
    if (why) passphrase.refuse(why)
    return why === undefined
  }

  async function run() {
    if (!secret) return
    // A key that was typed is kept like one of the link, so that a reload finds it.
    keep({ ...kept, target: formatTarget(secret) })
    gesture.busy(true)
    announce(text('open.opening'))
    const typed = needsPassphrase() ? passphrase.input.value : undefined
    const how = { passphrase: typed, claim: kept.claim }
    finish(secret, await open(secret, how, gesture.tell))
  }

  function finish(opened: Secret, result: Opening) {
    gesture.busy(false)
    if (result.outcome === 'opened') return showShown(opened, kept.claim, result.secret)
    // Another link was opened meanwhile: how this one ended would be taken for the end of that one.
    if (!form.isConnected) return
    if (result.outcome === 'failed') {
      problem.set(result.why)
      return gesture.button.focus()
    }
    if (result.outcome === 'wrong_passphrase' && result.triesLeft > 0) {
      passphrase.input.value = ''
      return passphrase.refuse(() => plural('open.wrong', result.triesLeft))
    }
    forget()
    showMessage(ENDINGS[result.outcome])
  }

  warnWhile(() => false)
  const form = element(
    'form',
    { class: 'open', novalidate: true, autocomplete: 'off' },
    key.element,
    passphrase.element,
    gesture.element,
    problem.element,
  )
  form.addEventListener('submit', (event) => event.preventDefault())
  show({
    name: 'open',
    title: 'open.title',
    lede: 'open.lede',
    plate: form,
  })
  // Opened already, and the page was loaded again: nothing is asked twice.
  if (kept.until !== undefined && secret && !needsPassphrase()) void run()
}

const ENDINGS = {
  unavailable: { title: 'unavailable.title', text: 'unavailable.text' },
  wrong_passphrase: { title: 'unavailable.title', text: 'open.lastTry' },
  changed: { title: 'unavailable.title', text: 'damaged.changed' },
} as const

function withKey(id: string, key: string): Secret | undefined {
  try {
    return { kind: 'secret', id, fragment: parseFragment(key) }
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    return undefined
  }
}
