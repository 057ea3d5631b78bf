/** The fingerprint of a request, which both sides see. */
import type { RequestTarget } from '../../crypto/link.ts'
import { fingerprint } from '../../crypto/request.ts'
import { element } from './dom.ts'
import { setText } from './language.ts'

export function fingerprintField(request: RequestTarget): HTMLElement {
  const value = element('p', { class: 'fingerprint code' })
  const show = async () => {
    value.textContent = await fingerprint(request)
  }
  void show()
  return element(
    'div',
    { class: 'field' },
    setText(element('p', { class: 'label' }), 'requested.fingerprint'),
    value,
    setText(element('p', { class: 'hint' }), 'requested.fingerprintHint'),
  )
}
