/** What was made: the link to send, and what its sender keeps. */
import type { NewLinks } from '../../client/seal-secret.ts'
import { formatFragment } from '../../crypto/fragment.ts'
import { formatLink } from '../../crypto/link.ts'
import { burnControl } from './burn-control.ts'
import { button } from './controls.ts'
import { copyField } from './copy.ts'
import { element } from './dom.ts'
import { seal } from './drawings.ts'
import { moment } from './format.ts'
import { plural, say, type TextKey } from './language.ts'
import { warnWhile } from './leaving.ts'
import { qrCode } from './qr.ts'
import { base } from './server.ts'
import { show } from './stage.ts'
import { startOver } from './start-over.ts'

export interface Made extends NewLinks {
  maxViews: number
  receipt: boolean
}

export function showSealed(made: Made) {
  const { id, fragment } = made.secret
  const link = formatLink(base, made.secret)
  // Without its link the secret is lost: leaving asks until it was taken along.
  let isTaken = false
  const onCopied = () => {
    isTaken = true
  }
  warnWhile(() => !isTaken)

  const plate = element(
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
        ? [say(element('p', { class: 'hint' }), 'sealed.passphrase')]
        : []),
      ...shareButton(link, onCopied),
    ),
    more('sealed.qr', () => [qrCode(link)], onCopied),
    more('sealed.apart', () => [
      say(element('p', { class: 'hint' }), 'sealed.apartHint'),
      copyField({
        label: 'sealed.linkWithoutKey',
        value: formatLink(base, { kind: 'secret-without-key', id }),
      }),
      copyField({ label: 'sealed.key', value: formatFragment(fragment), onCopied }),
    ]),
    more('sealed.manage', () => [
      copyField({
        label: 'sealed.manage',
        isLabelUnseen: true,
        hint: made.receipt ? 'sealed.manageReceiptHint' : 'sealed.manageHint',
        value: formatLink(base, made.management),
      }),
    ]),
    element(
      'div',
      { class: 'foot foot-apart' },
      button('sealed.another', startOver),
      burnControl(made.management),
    ),
  )
  const until = new Date(made.expiresAt * 1000)
  const lede = () => plural('sealed.lede', made.maxViews, { time: moment(until) })
  show({ name: 'sealed', title: 'sealed.title', lede, plate, emblem: seal() })
}

/** Further things, made when they are asked for. */
function more(title: TextKey, content: () => readonly Node[], onOpen?: () => void): HTMLElement {
  const details = element('details', {}, say(element('summary'), title))
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

/** Hands the link to another program, where the system can. */
function shareButton(link: string, onShared: () => void): HTMLElement[] {
  if (!('share' in navigator)) return []
  return [
    button('sealed.share', () => {
      // Refused or cancelled: then it is not shared.
      navigator.share({ url: link }).then(onShared, () => {})
    }),
  ]
}
