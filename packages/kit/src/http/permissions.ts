/**
 * Permissions of routes. Every route declares one by spreading it into its definition; a server with
 * a route that declares none does not start, see `requirePermissions`.
 */
import type { Hono, MiddlewareHandler } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import type { AuditActor } from '../audit-log.ts'
import { parseBearer } from '../bearer.ts'
import {
  operatorError,
  type OperatorRole,
  type Operators,
  requireOperatorRole,
} from '../operators.ts'
import { errorResponses } from './openapi.ts'
import type { AppEnv, AppVariables } from './env.ts'

/** The field of an operation in the OpenAPI document. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

/** Declares the permissions of the routes under one tag of the OpenAPI document. */
export function declarePermissions<Need extends string>(tag: string) {
  function need<Handler extends object>(
    who: Need | `operator:${OperatorRole}` | 'public',
    middleware: Handler,
  ) {
    declared.add(middleware)
    return { middleware, [PERMISSION]: who, tags: [tag] }
  }

  return {
    need,
    public: need('public', allowAll()),

    /** A permission for each role, for the routes of one service. */
    operator(operators: Pick<Operators, 'verify'>, service: string) {
      const from = (role: OperatorRole) => ({
        ...need(`operator:${role}`, operatorOnly(operators, role, service)),
        security: [{ operator: [] }],
      })
      return { viewer: from('viewer'), editor: from('editor'), admin: from('admin') }
    },
  }
}

export type OperatorPermissions = ReturnType<ReturnType<typeof declarePermissions>['operator']>

/** Declares a route without an OpenAPI definition as public: `routes.get('/', publicRoute, …)`. */
export const publicRoute: MiddlewareHandler<AppEnv> = allowAll()
declared.add(publicRoute)

function allowAll(): MiddlewareHandler<AppEnv> {
  return async (_, next) => {
    await next()
  }
}

/** Adds middleware behind a permission: `...withMiddleware(permit.write, bodyLimit(…))`. */
export function withMiddleware<Declared extends { middleware: object }, More extends object[]>(
  permission: Declared,
  ...more: More
): Omit<Declared, 'middleware'> & { middleware: [Declared['middleware'], ...More] } {
  return { ...permission, middleware: [permission.middleware, ...more] }
}

/** Throws if a route declares no permission, so that a start fails instead of serving it. */
export function requirePermissions({ routes }: Pick<Hono<never>, 'routes'>, of: string): void {
  const isDeclared = new Map<string, boolean>()
  for (const { method, path, handler } of routes) {
    // ALL is middleware.
    if (method === 'ALL') continue
    const name = `${method} ${path}`
    const declares = declared.has(findTargetHandler(handler))
    isDeclared.set(name, declares || (isDeclared.get(name) ?? false))
  }
  const missing = [...isDeclared].filter(([, declares]) => !declares).map(([name]) => name)
  if (missing.length === 0) return
  throw new TypeError(`Routes of ${of} declare no permission: ${missing.join(', ')}`)
}

export interface OperatorEnv {
  Variables: AppVariables & {
    /** The name of the operator. */
    operator: string
    /** For the audit log. */
    actor: AuditActor
  }
}

/** The errors of every route for operators. */
export const operatorErrors = errorResponses(operatorError, 'unauthorized', 'forbidden')

function operatorOnly(
  operators: Pick<Operators, 'verify'>,
  role: OperatorRole,
  service: string,
): MiddlewareHandler<OperatorEnv> {
  return async (c, next) => {
    const token = parseBearer(c.req.header('authorization'))
    const operator = token === undefined ? undefined : await operators.verify(token)
    if (operator === undefined) {
      throw operatorError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
    }
    requireOperatorRole(operator, role, service)
    c.set('operator', operator.name)
    c.set('actor', { actor: `operator:${operator.name}`, address: c.get('call').clientAddress })
    await next()
  }
}
