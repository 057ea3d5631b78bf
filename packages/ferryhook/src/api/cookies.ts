/**
 * The two cookies: one keeps a browser signed in, the other knows a sign-in through a provider until
 * the browser is back. Neither is readable by scripts, and no request but those of `/v1/auth` uses them.
 */
import type { Context, MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import type { AppEnv } from '@strongroom/kit/http/env'
import { SIGN_IN_SECONDS } from '../auth/sign-in.ts'
import { ferryhookError } from '../errors.ts'

const common = { path: '/', secure: true, httpOnly: true, prefix: 'host' } as const

const REFRESH = 'ferryhook-session'
const REFRESH_SECONDS = 30 * 86_400

const SIGN_IN = 'ferryhook-sign-in'

export const refreshCookie = {
  get: (c: Context): string | undefined => getCookie(c, REFRESH, 'host'),
  set(c: Context, token: string) {
    setCookie(c, REFRESH, token, { ...common, sameSite: 'Strict', maxAge: REFRESH_SECONDS })
  },
  clear(c: Context) {
    deleteCookie(c, REFRESH, common)
  },
}

/** Lax, because the browser comes back from another site. */
export const signInCookie = {
  get: (c: Context): string | undefined => getCookie(c, SIGN_IN, 'host'),
  set(c: Context, state: string) {
    setCookie(c, SIGN_IN, state, { ...common, sameSite: 'Lax', maxAge: SIGN_IN_SECONDS })
  },
  clear(c: Context) {
    deleteCookie(c, SIGN_IN, common)
  },
}

/**
 * Refuses what pages of other origins send. Browsers say where a POST comes from; a program that says
 * nothing has no cookies but its own.
 */
export function ownOrigin(publicUrl: string): MiddlewareHandler<AppEnv> {
  const { origin: own } = new URL(publicUrl)
  return async (c, next) => {
    const origin = c.req.header('origin')
    const site = c.req.header('sec-fetch-site') ?? 'none'
    const isOwn = origin === undefined ? site === 'none' || site === 'same-origin' : origin === own
    if (!isOwn) throw ferryhookError('foreign_origin')
    await next()
  }
}
