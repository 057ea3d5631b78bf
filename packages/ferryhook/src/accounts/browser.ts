/**
 * Cookies, the origin check and page URLs. One cookie keeps a browser signed in, the other identifies
 * it during a sign-in through a provider. Scripts cannot read them, and only `/v1/auth` uses them.
 */
import type { AppEnv } from '@strongroom/kit/http/env'
import type { Context, MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { ferryhookError } from '../errors.ts'
import { SIGN_IN_SECONDS } from './oauth/service.ts'

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

/** Lax, because the provider redirects the browser back from another site. */
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
 * Rejects requests from pages of other origins. Browsers name the origin of a POST; a program that
 * names none sends no cookies but its own.
 */
export function requireOwnOrigin(publicUrl: string): MiddlewareHandler<AppEnv> {
  const { origin: own } = new URL(publicUrl)
  return async (c, next) => {
    const origin = c.req.header('origin')
    const site = c.req.header('sec-fetch-site') ?? 'none'
    const isOwn = origin === undefined ? site === 'none' || site === 'same-origin' : origin === own
    if (!isOwn) throw ferryhookError('foreign_origin')
    await next()
  }
}

/**
 * The part of a request's URL before `/v1/…`: the public URL and the path the service is mounted at.
 * Never the Host header, which the client chooses.
 */
export function baseUrlOf(c: Context, publicUrl: string): string {
  const { path } = c.req
  return publicUrl + path.slice(0, path.indexOf('/v1/'))
}

/** Tickets are in the fragment, which browsers do not send to servers. */
export const signUpPage = (base: string, invite: string) => `${base}/sign-up#invite=${invite}`
export const resetPage = (base: string, ticket: string) => `${base}/reset-password#ticket=${ticket}`
export const verifyPage = (base: string, ticket: string) => `${base}/verify-email#ticket=${ticket}`
/** The page requests an access token to find out who is signed in. */
export const signedInPage = (base: string) => `${base}/`
export const signInFailedPage = (base: string, code: string) => `${base}/sign-in#error=${code}`
