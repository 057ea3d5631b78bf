/** Decides what is shown, from the link that led here or from what this tab keeps of it. */
import { SealedError } from '../../crypto/errors.ts'
import { parseTarget } from '../../crypto/link.ts'
import { newClaim } from '../../crypto/seal.ts'
import { showCreate } from './create-view.ts'
import { forget, keep, kept, takeFromAddress } from './kept.ts'
import { showLanguages } from './language-choice.ts'
import type { TextKey } from './language.ts'
import { showManage } from './manage-view.ts'
import { showMessage } from './message-view.ts'
import { showOpen } from './open-view.ts'
import { requireElement } from './stage.ts'
import { beginWith } from './start-over.ts'

function start() {
  if (!isSecureContext) {
    return showMessage({ title: 'insecure.title', text: 'insecure.text', canSeal: false })
  }
  arrive(takeFromAddress())
  const found = kept()
  if (!found) return showCreate()
  if (found.kind === 'hidden') return showMessage({ title: 'hidden.title', text: 'hidden.text' })
  try {
    const target = parseTarget(found.target)
    if (target.kind === 'management') return showManage(target)
    if (found.kind === 'open') return showOpen(target, found)
  } catch (error) {
    if (!(error instanceof SealedError)) throw error
    forget()
    const text: TextKey = error.code === 'link_version' ? 'damaged.newer' : 'damaged.text'
    showMessage({ title: 'damaged.title', text })
  }
}

/** Keeps the link that led here. The same link again is the same reader, with the same claim. */
function arrive(target: string) {
  if (target === '') return
  const before = kept()
  if (before?.kind === 'open' && before.target === target) return
  keep(
    target.startsWith('m:')
      ? { kind: 'manage', target }
      : { kind: 'open', target, claim: newClaim() },
  )
}

beginWith(showCreate)
// The way to an empty form, and not to what this tab keeps.
requireElement('home').addEventListener('click', forget)
showLanguages()
start()
// Another link opened in the same tab.
addEventListener('hashchange', start)
// A page that the browser had put aside shows what it showed then: look again.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})
