/**
 * Permissions of routes. Every route of a service declares one by spreading it into its definition;
 * a route without one is not served, see `requireDeclaredPermission`.
 */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import { type Operators, operatorError } from '../operators.ts'
import type { AppEnv, AppVariables } from './env.ts'

/** The field of an operation in the OpenAPI document. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

/** Declares the permissions of the routes under one tag of the OpenAPI document. */
export function declarePermissions<Need extends string>(tag: string) {
  function need<Handler extends object>(who: Need | 'operator' | 'public', middleware: Handler) {
    declared.add(middleware)
    return { middleware, [PERMISSION]: who, tags: [tag] }
  }

  const allowAll: MiddlewareHandler<AppEnv> = async (_, next) => {
    await next()
  }

  return {
    need,
    public: need('public', allowAll),
    operator: (operators: Pick<Operators, 'verify'>) => ({
      ...need('operator', operatorOnly(operators)),
      security: [{ operator: [] }],
    }),
  }
}

/** Adds middleware behind a permission: `...withMiddleware(permit.write, bodyLimit(…))`. */
export function withMiddleware<Declared extends { middleware: object }, More extends object[]>(
  permission: Declared,
  ...more: More
): Omit<Declared, 'middleware'> & { middleware: [Declared['middleware'], ...More] } {
  return { ...permission, middleware: [permission.middleware, ...more] }
}

/** Refuses to serve a route without a declared permission. */
export const requireDeclaredPermission: MiddlewareHandler<AppEnv> = async (c, next) => {
  const routes = matchedRoutes(c)
  const isRoute = routes.some(({ method }) => method !== 'ALL')
  const isDeclared = routes.some(({ handler }) => declared.has(findTargetHandler(handler)))
  if (isRoute && !isDeclared) throw new Error('Cannot serve a route that declares no permission')
  await next()
}

export interface OperatorEnv {
  /** The name of the operator, for the audit log. */
  Variables: AppVariables & { operator: string }
}

/** Lets only operators through to a route: `middleware: operatorOnly(operators)`. */
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
