/**
 * Error messages of statements. Conditions and updates are checked like expressions, but a statement has
 * no parameter such as "FilterExpression" for the message to name.
 */
import { DynamoError, validationError } from '../errors.ts'

const KIND = /^Invalid \w+Expression: /

export function withoutKind<T>(check: () => T): T {
  try {
    return check()
  } catch (error) {
    if (error instanceof DynamoError && KIND.test(error.message)) {
      throw validationError(error.message.replace(KIND, ''))
    }
    throw error
  }
}
