/** Failures between a client and Sealed. */

const messages = {
  not_available:
    'The secret does not exist, was already opened, was burned or has expired. Ask for a new link.',
  not_filled:
    'The request was not filled in yet, or its secret was already opened, was burned or has expired.',
  request_used:
    'This request was already used or withdrawn. If you did not fill it in, tell the requester.',
  request_expired: 'This request has expired. Ask for a new one.',
  wrong_passphrase: 'The passphrase is wrong.',
  rate_limited: 'Too many requests. Try again later.',
  invalid_token: 'The creation token has expired. Try again.',
  invalid_api_token:
    'The API token is invalid, revoked or expired. Create another one, or seal without it.',
  invalid_pow: 'The server rejected the proof of work. Try again.',
  invalid_request: 'The server rejected this secret. Check its lifetime and views.',
  full: 'The server has no room for more secrets. Try again later.',
  too_hard: 'The proof of work took too long. Try again later.',
  unavailable: 'The server is unavailable. Try again later.',
  unreachable:
    'Cannot reach the server. Check that it is running, its URL, its certificate and the network.',
  lost: 'The connection to the server was lost. Try again.',
  redirected: 'The server redirects to another URL. Use that URL.',
  not_sealed: 'Sealed was not found at this URL. Use the URL of its page.',
} as const

export type RequestFailure = keyof typeof messages

export interface FailureDetails {
  /** With `wrong_passphrase`. */
  triesLeft?: number | undefined
  /** With `rate_limited` and `unavailable`: the server's Retry-After. */
  retryAfterSeconds?: number | undefined
}

/** The message says what to do, and never contains the secret, its link or its tokens. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly code: RequestFailure
  readonly triesLeft: number | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: RequestFailure, { triesLeft, retryAfterSeconds }: FailureDetails = {}) {
    super(toMessage(code, { triesLeft, retryAfterSeconds }))
    this.code = code
    this.triesLeft = triesLeft
    this.retryAfterSeconds = retryAfterSeconds
  }
}

function toMessage(code: RequestFailure, { triesLeft, retryAfterSeconds }: FailureDetails): string {
  if (code === 'wrong_passphrase' && triesLeft !== undefined) {
    if (triesLeft === 0) return 'The passphrase was wrong too often. The secret was destroyed.'
    return `${messages[code]} ${triesLeft === 1 ? 'One try is left.' : `${triesLeft} tries are left.`}`
  }
  if (retryAfterSeconds === undefined) return messages[code]
  return messages[code].replace('Try again later', `Try again in ${retryAfterSeconds} seconds`)
}
