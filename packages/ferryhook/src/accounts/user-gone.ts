import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'

/**
 * For use as `.catch(asUserGone)`: the account was deleted, or got another password than the one that
 * was given, while its user asked for something else.
 */
export function asUserGone(error: unknown): never {
  if (!(error instanceof Refused)) throw error
  if (error.reason === 'not_found') throw ferryhookError('unauthorized', { cause: error })
  throw error.reason === 'password_changed'
    ? ferryhookError('wrong_password', { cause: error })
    : error
}
