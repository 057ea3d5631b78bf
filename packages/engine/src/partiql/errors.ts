/**
 * Error texts of statements. Conditions and updates are checked like those of expressions, but a
 * statement has no parameter such as "FilterExpression" that an error could name.
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
