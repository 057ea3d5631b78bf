/** Errors in a text, a file, a passphrase or a link, found before any request. */
import { MAX_CONTENT_BYTES } from './padding.ts'

const messages = {
  text_empty: 'The text is empty. Enter a text to seal.',
  text_too_long: `The text is too long. The maximum is ${MAX_CONTENT_BYTES.toLocaleString('en')} bytes of UTF-8.`,
  text_malformed:
    'The text contains an invalid character. Remove invisible characters or type it again.',
  file_too_large: `The file is too large. File, name and media type have at most ${MAX_CONTENT_BYTES.toLocaleString('en')} bytes together.`,
  file_not_accepted: 'This request accepts texts only. Send a text.',
  passphrase_empty: 'The passphrase is empty. Enter one, or use none.',
  passphrase_malformed: 'The passphrase contains an invalid character. Type it again.',
  passphrase_needed: 'This secret has a passphrase. Ask the sender for it.',
  link_malformed: 'This is not a link to a secret. Copy the whole link again.',
  link_incomplete: 'The link is damaged or incomplete. Copy the whole link again.',
  link_without_key: 'The link does not contain the key. Add the key that you received separately.',
  link_version:
    'The link was created by a newer version. Open it in a browser, or update this program.',
  not_secret_link: 'This is a management link. Use the link that opens the secret.',
  request_link: 'This link asks for a secret. Use "strongroom fill", or open it in a browser.',
  not_request_link: 'This is not a request link. Use the link that you were sent.',
  not_management_link: 'This link opens a secret. Use its management link.',
  cannot_open: 'The secret was changed and cannot be opened with this link. Ask for a new link.',
} as const

export type SealedErrorCode = keyof typeof messages

/** The message says what to do, and never contains the text, the passphrase or the link. */
export class SealedError extends Error {
  override readonly name = 'SealedError'
  readonly code: SealedErrorCode

  constructor(code: SealedErrorCode) {
    super(messages[code])
    this.code = code
  }
}
