/** The error of a write that a store rejects. */
import { CONFLICT } from '@strongroom/kit/retry-on-conflict'

/** Why a store rejects a write. Services map each reason to an error of their catalogue. */
export type RejectionReason =
  | 'not_found'
  | 'email_taken'
  | 'identity_taken'
  | 'only_sign_in'
  | 'ticket_used'
  | 'password_changed'
  | 'second_factor_added'
  | 'plan_limit'
  | 'month_limit'
  | 'duplicate'
  | 'body_too_large'
  | 'status_derived'
  | 'already_counted'
  | 'connection_changed'
  | 'source_changed'
  | 'alerts_changed'

export class WriteRejected extends Error {
  override readonly name = 'WriteRejected'
  readonly reason: RejectionReason

  constructor(reason: RejectionReason, options?: ErrorOptions) {
    super(`The write was rejected: ${reason}`, options)
    this.reason = reason
  }
}

/** For `.catch` inside `retryOnConflict`: a write that is rejected for this reason is a conflict. */
export function toConflict(reason: RejectionReason) {
  return (error: unknown): typeof CONFLICT => {
    if (error instanceof WriteRejected && error.reason === reason) return CONFLICT
    throw error
  }
}
