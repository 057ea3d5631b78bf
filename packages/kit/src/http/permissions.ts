/**
 * Permissions of routes. Every route declares one by spreading it into its definition; a server with
 * a route that declares none does not start, see `requirePermissions`.
 */
import type { Context, Hono, MiddlewareHandler } from 'hono'
import { findTargetHandler } from 'hono/utils/handler'
import type { AuditActor } from '../audit-log.ts'
import type { OperatorSession } from '../operator-sessions.ts'
import type { Operator, OperatorRole } from '../operator-item.ts'
import { operatorError, type Operators, requireOperatorRole } from '../operators.ts'
import { errorResponses } from './openapi.ts'
import { authenticateOperator } from './operator-authentication.ts'
import type { AppEnv, AppVariables } from './env.ts'

/** The field of an operation in the OpenAPI document. */
export const PERMISSION = 'x-permission'

const declared = new WeakSet<object>()

/** Declares the permissions of the routes under one tag of the OpenAPI document. */
export function declarePermissions<Need extends string>(tag: string) {
  function need<Handler extends object>(
    who: Need | `operator:${OperatorRole | 'self' | 'session'}` | 'public',
    middleware: Handler,
  ) {
    declared.add(middleware)
    return { middleware, [PERMISSION]: who, tags: [tag] }
  }

  return {
    need,
    public: need('public', allowAll()),

    /**
     * A permission for each role, for the routes of one service. Without a service, operators that are
     * limited to services are let through, and the handler decides by `operatorRights`.
     */
    operator(operators: OperatorVerifier, service?: string) {
      const from = (role: OperatorRole) => ({
        ...need(`operator:${role}`, operatorOnly(operators, role, service)),
        security: [{ operator: [] }, { operatorSession: [] }],
      })
      return { viewer: from('viewer'), editor: from('editor'), admin: from('admin') }
    },

    /** For what operators do about themselves, whatever their role and services are. */
    operatorSelf(operators: OperatorVerifier) {
      return {
        /** With a token or a session. */
        self: {
          ...need('operator:self', anyOperator(operators)),
          security: [{ operator: [] }, { operatorSession: [] }],
        },
        /** With a session, also one that is limited to the setup of a second factor. */
        session: {
          ...need('operator:session', sessionOnly(operators)),
          security: [{ operatorSession: [] }],
        },
      }
    },
  }
}

/** The operators that a permission asks. */
export type OperatorVerifier = Pick<Operators, 'verify' | 'verifySession' | 'sessionPolicy'>

export type OwnPermissions = ReturnType<ReturnType<typeof declarePermissions>['operatorSelf']>
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
    operatorRights: Operator
    /** For the audit log. */
    actor: AuditActor
  }
}

export interface SelfEnv {
  Variables: OperatorEnv['Variables'] & {
    self: Operator
    /** Undefined with a token. */
    session: OperatorSession | undefined
    /** Whether the session can only set up the second factor that the server requires. */
    isLimited: boolean
  }
}

export interface SessionEnv {
  Variables: SelfEnv['Variables'] & { session: OperatorSession }
}

/** The errors of every route for operators. */
export const operatorErrors = errorResponses(
  operatorError,
  'unauthorized',
  'session_ended',
  'forbidden',
  'foreign_origin',
  'second_factor_setup_required',
)

function operatorOnly(
  operators: OperatorVerifier,
  role: OperatorRole,
  service: string | undefined,
): MiddlewareHandler<OperatorEnv> {
  return async (c, next) => {
    const { operator, isLimited } = await authenticateOperator(c, operators)
    if (isLimited) throw operatorError('second_factor_setup_required')
    requireOperatorRole(operator, role, service ?? operator.services?.[0] ?? '')
    c.set('operatorRights', operator)
    setActor(c, operator)
    await next()
  }
}

function anyOperator(operators: OperatorVerifier): MiddlewareHandler<SelfEnv> {
  return async (c, next) => {
    const { operator, session, isLimited } = await authenticateOperator(c, operators)
    setActor(c as never, operator)
    c.set('self', operator)
    c.set('session', session)
    c.set('isLimited', isLimited)
    await next()
  }
}

function sessionOnly(operators: OperatorVerifier): MiddlewareHandler<SessionEnv> {
  return async (c, next) => {
    const { operator, session, isLimited } = await authenticateOperator(c, operators)
    if (!session) throw operatorError('session_required')
    setActor(c as never, operator)
    c.set('self', operator)
    c.set('session', session)
    c.set('isLimited', isLimited)
    await next()
  }
}

function setActor(c: Context<OperatorEnv>, { name }: Operator): void {
  c.set('operator', name)
  c.set('actor', { actor: `operator:${name}`, address: c.get('call').clientAddress })
}
