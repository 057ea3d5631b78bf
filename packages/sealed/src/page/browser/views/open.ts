/** Opens a secret: key and passphrase where needed, then press and hold. */
import { RequestFailed } from '../../../client/errors.ts'
import { type OpenedSecret, openSecret } from '../../../client/open-secret.ts'
import { SealedError } from '../../../crypto/errors.ts'
import { parseFragment } from '../../../crypto/fragment.ts'
import { type LinkTarget, trimPastedLink } from '../../../crypto/link.ts'
import { deriveReaderKeys, needsPassphrase, type ReaderTarget } from '../../../crypto/reader.ts'
import { api, failureText, retryWithStatus } from '../api.ts'
import { fieldError } from '../controls.ts'
import { element } from '../dom.ts'
import { draftNotice } from '../draft.ts'
import { passphraseError } from '../fields/passphrase.ts'
import { secretInput } from '../fields/secret-input.ts'
import { plural, text, type TextKey } from '../language.ts'
import { announce, showScreen } from '../layout.ts'
import { warnBeforeUnload } from '../navigation.ts'
import { openGesture } from '../open-gesture.ts'
import { clearLink, storedLink, type StoredLink } from '../stored-link.ts'
import { showHidden, showMessage } from './message.ts'
import { showSecret } from './reveal.ts'

type WithoutKey = LinkTarget & { kind: 'secret-without-key' }

export function showOpen(target: ReaderTarget | WithoutKey, stored: StoredLink & { kind: 'open' }) {
  let secret = target.kind === 'secret-without-key' ? undefined : target
  // A typed key exists in memory only, so a reload has to ask for it again.
  const isReload = stored.until !== undefined
  const key = secretInput({
    label: 'open.key',
    hint: isReload ? 'open.keyAgain' : 'open.keyHint',
  })
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
  const error = fieldError(gesture.button)
  key.element.hidden = target.kind !== 'secret-without-key'
  passphrase.element.hidden = !isProtected()
  key.input.addEventListener('input', () => {
    secret = parseKey(target.id, trimPastedLink(key.input.value))
    passphrase.element.hidden = !isProtected()
  })

  function isProtected(): boolean {
    return secret !== undefined && needsPassphrase(secret)
  }

  function isReady(): boolean {
    error.clear()
    if (!secret) {
      key.showError(key.input.value === '' ? 'open.keyNeeded' : 'open.keyDamaged')
      return false
    }
    if (!isProtected()) return true
    const problem = passphraseError(passphrase.input.value, 'open.passphraseNeeded')
    if (problem) passphrase.showError(problem)
    return problem === undefined
  }

  async function run() {
    if (!secret) return
    // The reload was too long ago: opening it now would use another view.
    if (isReload && storedLink()?.kind === 'hidden') return showHidden()
    gesture.setBusy(true)
    announce(text('open.opening'))
    const typedPassphrase = isProtected() ? passphrase.input.value : undefined
    const reader = { passphrase: typedPassphrase, claim: stored.claim }
    finish(secret, await openLink(secret, reader, gesture.setStatus))
  }

  function finish(opened: ReaderTarget, result: OpenResult) {
    gesture.setBusy(false)
    if (result.outcome === 'opened') return showSecret({ ...stored, id: opened.id }, result.secret)
    // Another link was opened in this tab. This result must not replace its view.
    if (!form.isConnected) return
    if (result.outcome === 'failed') {
      error.set(result.text)
      return gesture.button.focus()
    }
    if (result.outcome === 'wrong_passphrase' && result.triesLeft > 0) {
      passphrase.input.value = ''
      return passphrase.showError(() => plural('open.wrong', result.triesLeft))
    }
    clearLink()
    showMessage(MESSAGES[result.outcome])
  }

  warnBeforeUnload(() => false)
  const form = element(
    'form',
    { class: 'open', novalidate: true, autocomplete: 'off' },
    key.element,
    passphrase.element,
    gesture.element,
    error.element,
  )
  form.addEventListener('submit', (event) => event.preventDefault())
  const isOwn = target.kind === 'own'
  showScreen({
    name: 'open',
    title: isOwn ? 'own.title' : 'open.title',
    intro: isOwn ? 'own.lede' : 'open.lede',
    content: form,
    ...draftNotice(),
  })
  // A reload after opening opens it again without the gesture.
  if (isReload && secret && !isProtected()) void run()
}

const MESSAGES = {
  unavailable: { title: 'unavailable.title', text: 'unavailable.text' },
  wrong_passphrase: { title: 'unavailable.title', text: 'open.lastTry' },
  changed: { title: 'unavailable.title', text: 'damaged.changed' },
} as const

function parseKey(id: string, key: string): ReaderTarget | undefined {
  try {
    return { kind: 'secret', id, fragment: parseFragment(key) }
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    return undefined
  }
}

type OpenResult =
  | { outcome: 'opened'; secret: OpenedSecret }
  | { outcome: 'wrong_passphrase'; triesLeft: number }
  | { outcome: 'unavailable' }
  /** The ciphertext is not the one that was sealed. */
  | { outcome: 'changed' }
  | { outcome: 'failed'; text: TextKey }

async function openLink(
  target: ReaderTarget,
  { passphrase, claim }: { passphrase: string | undefined; claim: string },
  setStatus: (status: () => string) => void,
): Promise<OpenResult> {
  try {
    const keys = await deriveReaderKeys(target, passphrase)
    const reader = { id: target.id, keys, claim }
    const secret = await openSecret(api, reader, retryWithStatus(setStatus))
    return { outcome: 'opened', secret }
  } catch (error) {
    if (error instanceof SealedError) return { outcome: 'changed' }
    const code = error instanceof RequestFailed ? error.code : undefined
    // It may be filled in later, so the requester can try again.
    if (code === 'not_available' && target.kind === 'own') {
      return { outcome: 'failed', text: 'own.unavailable' }
    }
    if (code === 'not_available') return { outcome: 'unavailable' }
    if (error instanceof RequestFailed && code === 'wrong_passphrase') {
      return { outcome: 'wrong_passphrase', triesLeft: error.triesLeft ?? 0 }
    }
    return { outcome: 'failed', text: failureText(error) }
  }
}
