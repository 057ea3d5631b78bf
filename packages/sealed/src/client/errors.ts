/** What can go wrong between a client and Sealed. */

const messages = {
  not_available: 'There is no such secret, or it is not there any more: ask for a new link',
  wrong_passphrase: 'The passphrase is wrong',
  rate_limited: 'The server has had too many requests: try again later',
  invalid_token: 'The server no longer accepts the permission it gave: try again',
  invalid_pow: 'The server does not accept the proof of work: try again',
  invalid_request: 'The server does not accept this secret: check its lifetime and views',
  full: 'The server has no room for further secrets: try again later',
  too_hard: 'The server asks for more work than can be done in time: try again later',
  unavailable: 'The server cannot answer now: try again later',
  unreachable:
    'Cannot reach the server: check that it runs, its address, its certificate and the network',
  lost: 'The connection to the server broke: try again',
  redirected: 'The server sends requests elsewhere: use the address that it leads to',
  not_sealed: 'There is no Sealed at this address: use the address of its page',
} as const

export type RequestFailure = keyof typeof messages

export interface FailureFacts {
  /** With `wrong_passphrase`: how often it may still be tried. */
  triesLeft?: number | undefined
  /** With `rate_limited` and `unavailable`: what the server says. */
  retryAfterSeconds?: number | undefined
}

/** Says what to do, and never holds anything of the secret, its link or its tokens. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed'
  readonly code: RequestFailure
  readonly triesLeft: number | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: RequestFailure, { triesLeft, retryAfterSeconds }: FailureFacts = {}) {
    super(messageOf(code, { triesLeft, retryAfterSeconds }))
    this.code = code
    this.triesLeft = triesLeft
    this.retryAfterSeconds = retryAfterSeconds
  }
}

function messageOf(code: RequestFailure, { triesLeft, retryAfterSeconds }: FailureFacts): string {
  if (code === 'wrong_passphrase' && triesLeft !== undefined) {
    if (triesLeft === 0) return 'The passphrase was wrong too often: the secret is destroyed'
    return `${messages[code]}: it can be tried ${triesLeft === 1 ? 'once' : `${triesLeft} times`} more`
  }
  if (retryAfterSeconds === undefined) return messages[code]
  return messages[code].replace('try again later', `try again in ${retryAfterSeconds} seconds`)
}
