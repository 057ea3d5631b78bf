/** What can be wrong with a text, a passphrase or a link, before any server is asked. */
import { MAX_TEXT_BYTES } from './padding.ts'

const messages = {
  text_empty: 'There is nothing to seal: write a text first',
  text_too_long: `The text is too long: at most ${MAX_TEXT_BYTES.toLocaleString('en')} bytes of UTF-8 can be sealed`,
  text_malformed: 'The text holds half a character: remove what does not show, or type it anew',
  passphrase_empty: 'The passphrase is empty: type one, or go without',
  passphrase_malformed: 'The passphrase holds half a character: type it anew',
  passphrase_needed: 'This secret has a passphrase: ask for it whoever sent the link',
  link_malformed: 'This is no link to a secret: copy the whole link again',
  link_incomplete: 'The link is damaged or not complete: copy the whole link again',
  link_without_key: 'The link has no key: add the key that came with it',
  link_version:
    'The link was made by a newer version: open it in the page it leads to, or update this program',
  not_secret_link: 'This link manages a secret: use the link that opens it',
  not_management_link: 'This link opens a secret: use its management link',
  cannot_open: 'The secret cannot be opened with this link: it was changed on its way',
} as const

export type SealedErrorCode = keyof typeof messages

/** Says what to do, and never holds anything of the text, the passphrase or the link. */
export class SealedError extends Error {
  override readonly name = 'SealedError'
  readonly code: SealedErrorCode

  constructor(code: SealedErrorCode) {
    super(messages[code])
    this.code = code
  }
}
