import { ApiError } from '@strongroom/kit/errors'
import type { Operators } from '@strongroom/kit/operators'

/**
 * A new server has one operator, so that it can be administered at all. Returns its token, or
 * undefined if there is an operator already; of two servers that start at once one makes it.
 */
export async function addFirstOperator(operators: Operators): Promise<string | undefined> {
  if ((await operators.list()).length > 0) return undefined
  return operators.add('admin').catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'operator.exists') return undefined
    throw error
  })
}
