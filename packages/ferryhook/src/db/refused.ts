/** What the data layer can say no to. A service tells its client in the words of its catalogue. */
export type RefusalReason =
  | 'not_found'
  | 'email_taken'
  | 'identity_taken'
  | 'only_sign_in'
  | 'ticket_used'
  | 'password_changed'
  | 'plan_limit'
  | 'month_limit'
  | 'body_too_large'
  | 'run_open'
  | 'run_ended'
  | 'run_replaced'
  | 'in_progress'
  | 'unverified'
  | 'status_derived'
  | 'lease_lost'
  | 'connection_changed'
  | 'source_changed'
  | 'alerts_changed'

export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(`The data layer refused: ${reason}`, options)
    this.reason = reason
  }
}

/** The provider sent this event before; nothing was written. */
export class DuplicateEvent extends Error {
  override readonly name = 'DuplicateEvent'
  /** The event that was stored then. */
  readonly eventId: string

  constructor(eventId: string, options?: ErrorOptions) {
    super('This event was received before', options)
    this.eventId = eventId
  }
}
