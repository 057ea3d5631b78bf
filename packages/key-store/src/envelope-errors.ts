/** Why something is not sealed or not opened. Messages name no ids and no values. */
import { SealedUnreadable } from '@strongroom/kit/secret-box'

/**
 * What was sealed does not open here. One error for every reason, so that nobody learns by trying
 * how far a forgery got.
 */
export class EnvelopeUnreadable extends SealedUnreadable {
  override readonly name = 'EnvelopeUnreadable'
  constructor(options?: ErrorOptions) {
    super(
      'Cannot open what was sealed: it was altered, or sealed for another place, or its branch key is gone; ' +
        'restore it together with its branch key, or set it anew',
      options,
    )
  }
}

/** A place that nothing can be sealed for. */
export class InvalidEnvelopeContext extends Error {
  override readonly name = 'InvalidEnvelopeContext'
  constructor(what: string) {
    super(`Cannot seal or open: ${what}`)
  }
}

export class PlaintextTooLong extends Error {
  override readonly name = 'PlaintextTooLong'
  constructor(most: number) {
    super(`Cannot seal more than ${most} bytes at once: seal parts of it`)
  }
}
