/**
 * What a route needs of those who call it. Every route of a service declares it by spreading a
 * declaration into its definition; one that forgot is not served, see `declaredOnly`.
 */
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import { findTargetHandler } from 'hono/utils/handler'
import type { Operators } from '../operators.ts'
import type { AppEnv } from './env.ts'
import { operatorOnly } from './operator-only.ts'

/** As the OpenAPI document names it. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

/** Of the routes under one tag of the OpenAPI document. */
export function declarations<Need extends string>(tag: string) {
  function need<Handler extends object>(who: Need | 'operator' | 'public', middleware: Handler) {
    declared.add(middleware)
    return { middleware, [PERMISSION]: who, tags: [tag] }
  }

  const anybody: MiddlewareHandler<AppEnv> = async (_, next) => {
    await next()
  }

  return {
    need,
    public: need('public', anybody),
    operator: (operators: Pick<Operators, 'verify'>) => ({
      ...need('operator', operatorOnly(operators)),
      security: [{ operator: [] }],
    }),
  }
}

/** A permission with more middleware behind it: `...and(permit.write, bodyLimit(…))`. */
export function and<Declared extends { middleware: object }, More extends object>(
  permission: Declared,
  more: More,
): Omit<Declared, 'middleware'> & { middleware: [Declared['middleware'], More] } {
  return { ...permission, middleware: [permission.middleware, more] }
}

/** For the app that the routes are in: answers nothing that does not say what it needs. */
export const declaredOnly: MiddlewareHandler<AppEnv> = async (c, next) => {
  const routes = matchedRoutes(c)
  const isRoute = routes.some(({ method }) => method !== 'ALL')
  const isDeclared = routes.some(({ handler }) => declared.has(findTargetHandler(handler)))
  if (isRoute && !isDeclared) throw new Error('Cannot serve a route that declares no permission')
  await next()
}
