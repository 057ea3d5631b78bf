/** The result: the link to send, and the management link for the sender. */
import type { NewLinks } from '../../../client/seal-secret.ts'
import { formatFragment } from '../../../crypto/fragment.ts'
import { formatLink } from '../../../crypto/link.ts'
import { base } from '../api.ts'
import { button } from '../controls.ts'
import { copyField } from '../copy.ts'
import { element } from '../dom.ts'
import { qrCode, seal } from '../drawings.ts'
import { burnButton } from '../fields/burn.ts'
import { formatTime } from '../format.ts'
import { plural, setText, type TextKey } from '../language.ts'
import { showScreen } from '../layout.ts'
import { startOver, warnBeforeUnload } from '../navigation.ts'

export interface CreatedSecret extends NewLinks {
  maxViews: number
  receipt: boolean
}

export function showResult(created: CreatedSecret) {
  const { id, fragment } = created.secret
  const link = formatLink(base, created.secret)
  // Without its link the secret is lost, so leaving the page warns until the link was copied.
  let isSaved = false
  const onCopied = () => {
    isSaved = true
  }
  warnBeforeUnload(() => !isSaved)

  const content = element(
    'div',
    { class: 'sealed' },
    element(
      'div',
      { class: 'sealed-main' },
      copyField({
        label: 'sealed.link',
        value: link,
        copy: { label: 'sealed.copy', class: 'button-primary' },
        onCopied,
      }),
      ...(fragment.passphraseProtected
        ? [setText(element('p', { class: 'hint' }), 'sealed.passphrase')]
        : []),
      ...shareButton(link, onCopied),
    ),
    disclosure('sealed.qr', () => [qrCode(link)], onCopied),
    disclosure('sealed.apart', () => [
      setText(element('p', { class: 'hint' }), 'sealed.apartHint'),
      copyField({
        label: 'sealed.linkWithoutKey',
        value: formatLink(base, { kind: 'secret-without-key', id }),
      }),
      copyField({ label: 'sealed.key', value: formatFragment(fragment), onCopied }),
    ]),
    disclosure('sealed.manage', () => [
      copyField({
        label: 'sealed.manage',
        isLabelUnseen: true,
        hint: created.receipt ? 'sealed.manageReceiptHint' : 'sealed.manageHint',
        value: formatLink(base, created.management),
      }),
    ]),
    element(
      'div',
      { class: 'foot foot-apart' },
      button('sealed.another', startOver),
      burnButton(created.management),
    ),
  )
  const until = new Date(created.expiresAt * 1000)
  const intro = () => plural('sealed.lede', created.maxViews, { time: formatTime(until) })
  showScreen({ name: 'sealed', title: 'sealed.title', intro, content, icon: seal() })
}

/** Creates its content when it is opened. */
export function disclosure(
  title: TextKey,
  content: () => readonly Node[],
  onOpen?: () => void,
): HTMLElement {
  const details = element('details', {}, setText(element('summary'), title))
  details.addEventListener(
    'toggle',
    () => {
      details.append(element('div', { class: 'details' }, ...content()))
      onOpen?.()
    },
    { once: true },
  )
  return details
}

/** Where the system can share links with other apps. */
export function shareButton(link: string, onShared: () => void): HTMLElement[] {
  if (!('share' in navigator)) return []
  return [
    button('sealed.share', () => {
      // It rejects when it is cancelled.
      navigator.share({ url: link }).then(onShared, () => {})
    }),
  ]
}
