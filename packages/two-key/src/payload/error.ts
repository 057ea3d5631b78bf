/** Why a signed payload is rejected: Slack does not send such content. */
export type PayloadErrorCode =
  | 'malformed_body'
  | 'unknown_content_type'
  | 'unknown_payload'
  /** It can be read in two ways, and only one of them would be checked. */
  | 'ambiguous_payload'
  | 'missing_id'
  | 'bad_id'

/** Stays within this folder: the parse functions return its code. */
export class PayloadError extends Error {
  override readonly name = 'PayloadError'
  readonly code: PayloadErrorCode

  constructor(code: PayloadErrorCode) {
    super(`Payload rejected: ${code}`)
    this.code = code
  }
}
