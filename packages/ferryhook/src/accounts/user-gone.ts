import { Refused } from '../db/refused.ts'
import { ferryhookError } from '../errors.ts'

/** For use as `.catch(asUserGone)`: the account was deleted while its user asked for something else. */
export function asUserGone(error: unknown): never {
  const isGone = error instanceof Refused && error.reason === 'not_found'
  throw isGone ? ferryhookError('unauthorized', { cause: error }) : error
}
