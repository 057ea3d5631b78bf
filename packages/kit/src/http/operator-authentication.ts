/** Who calls a route for operators: by a token, or by the cookie of a session. */
import type { Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { parseBearer } from '../bearer.ts'
import { type OperatorSession, SESSION_SECONDS } from '../operator-sessions.ts'
import type { Operator } from '../operator-item.ts'
import { operatorError, type Operators } from '../operators.ts'
import type { AppEnv } from './env.ts'
import { requestOrigin } from './own-origin.ts'

const COOKIE = 'strongroom-session'
const cookie = {
  path: '/',
  secure: true,
  httpOnly: true,
  prefix: 'host',
  sameSite: 'Strict',
} as const

/** Browsers accept it on https and localhost only; scripts cannot read it. */
export const sessionCookie = {
  get: (c: Context): string | undefined => getCookie(c, COOKIE, 'host'),
  set: (c: Context, value: string) =>
    setCookie(c, COOKIE, value, { ...cookie, maxAge: SESSION_SECONDS }),
  clear(c: Context) {
    deleteCookie(c, COOKIE, cookie)
  },
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS'])

export interface AuthenticatedOperator {
  operator: Operator
  /** Undefined with a token. */
  session: OperatorSession | undefined
  /** Whether all that it may do is to set up the second factor that the server requires. */
  isLimited: boolean
}

/** A token in the header decides alone; the cookie counts only without one. */
export async function authenticateOperator<E extends AppEnv>(
  c: Context<E>,
  operators: Pick<Operators, 'verify' | 'verifySession' | 'sessionPolicy'>,
): Promise<AuthenticatedOperator> {
  const { publicUrl, requiresSecondFactor } = operators.sessionPolicy
  const authorization = c.req.header('authorization')
  const value = publicUrl === undefined ? undefined : sessionCookie.get(c)
  if (authorization !== undefined || value === undefined || publicUrl === undefined) {
    const token = parseBearer(authorization)
    const operator = token === undefined ? undefined : await operators.verify(token)
    if (operator) return { operator, session: undefined, isLimited: false }
    throw operatorError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
  }
  requireOwnOrigin(c, publicUrl)
  const signIn = await operators.verifySession(value)
  if (!signIn) throw operatorError('session_ended')
  const { operator, session } = signIn
  const isLimited = requiresSecondFactor && operator.role === 'admin' && !session.secondFactor
  return { operator, session, isLimited }
}

/**
 * Pages of other origins can make a browser send its cookies: also those of another port of localhost,
 * which SameSite does not keep out.
 */
export function requireOwnOrigin<E extends AppEnv>(c: Context<E>, publicUrl: string): void {
  const origin = requestOrigin(c, publicUrl)
  const isAllowed = origin === 'own' || (origin === 'unknown' && READS.has(c.req.method))
  if (!isAllowed) throw operatorError('foreign_origin')
}
