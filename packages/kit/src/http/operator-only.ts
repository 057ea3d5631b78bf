/** Lets only operators through to a route: `middleware: operatorOnly(operators)`. */
import type { MiddlewareHandler } from 'hono'
import { type Operators, operatorError } from '../operators.ts'
import type { AppVariables } from './env.ts'

export interface OperatorEnv {
  /** Who is asking, for the audit log. */
  Variables: AppVariables & { operator: string }
}

export function operatorOnly(operators: Pick<Operators, 'verify'>): MiddlewareHandler<OperatorEnv> {
  return async (c, next) => {
    const [, token] = /^Bearer (\S+)$/i.exec(c.req.header('authorization') ?? '') ?? []
    const operator = token === undefined ? undefined : await operators.verify(token)
    if (operator === undefined) {
      throw operatorError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
    }
    c.set('operator', operator)
    await next()
  }
}
