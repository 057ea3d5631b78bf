/**
 * Cookies, the origin check and page URLs. One cookie keeps a browser signed in, the others identify it
 * during a sign-in through a provider and before a second factor. Scripts cannot read them, and only `/v1/auth` uses them.
 */
import { clientAddress } from '@strongroom/kit/http/client-address'
import type { AppEnv } from '@strongroom/kit/http/env'
import { requestOrigin } from '@strongroom/kit/http/own-origin'
import { parseUrl } from '@strongroom/kit/parse-url'
import type { Context, MiddlewareHandler } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { ferryhookError } from '../errors.ts'
import { FORBIDDEN_NAME_CHARACTERS } from '../storage/schemas.ts'
import { SIGN_IN_SECONDS } from './oauth/service.ts'
import { type ClientInfo, MAX_USER_AGENT_LENGTH } from './sessions/item.ts'

const common = { path: '/', secure: true, httpOnly: true, prefix: 'host' } as const

const REFRESH = 'ferryhook-session'
const REFRESH_SECONDS = 30 * 86_400

const PENDING = 'ferryhook-second-factor'

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

/** A sign-in that waits for the second factor. */
export const pendingCookie = {
  get: (c: Context): string | undefined => getCookie(c, PENDING, 'host'),
  set(c: Context, token: string) {
    setCookie(c, PENDING, token, { ...common, sameSite: 'Strict', maxAge: SIGN_IN_SECONDS })
  },
  clear(c: Context) {
    deleteCookie(c, PENDING, common)
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

/** Where the request comes from, as sessions store it. */
export function clientOf(c: Context<AppEnv>): ClientInfo {
  const address = clientAddress(c)
  const userAgent = c.req
    .header('user-agent')
    ?.replaceAll(UNPRINTABLE, ' ')
    .trim()
    .slice(0, MAX_USER_AGENT_LENGTH)
  return { ...(address !== undefined && { address }), ...(userAgent && { userAgent }) }
}

const UNPRINTABLE = new RegExp(`${FORBIDDEN_NAME_CHARACTERS.source}+`, 'gu')

/**
 * Rejects requests from pages of other origins. Browsers name the origin of a POST; a program that
 * names none sends no cookies but its own.
 */
export function requireOwnOrigin(publicUrl: string): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    if (requestOrigin(c, publicUrl) === 'foreign') throw ferryhookError('foreign_origin')
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

/** Pages of the console. Tickets are in the fragment, which browsers do not send to servers. */
export const signUpPage = (publicUrl: string, invite: string) =>
  `${publicUrl}/console/sign-up#invite=${invite}`
export const resetPage = (publicUrl: string, ticket: string) =>
  `${publicUrl}/console/reset#ticket=${ticket}`
export const verifyPage = (publicUrl: string, ticket: string) =>
  `${publicUrl}/console/verify-email#ticket=${ticket}`
/** The page requests an access token to find out who is signed in. */
export const signedInPage = (publicUrl: string, next = '/console/') => publicUrl + next
/** The page asks for the second factor; it finds the sign-in by its cookie. */
export const secondFactorPage = (publicUrl: string, next: string | undefined) => {
  const query = next === undefined ? '' : `?${new URLSearchParams({ next }).toString()}`
  return `${publicUrl}/console/sign-in${query}#second-factor`
}
export const signInFailedPage = (publicUrl: string, code: string) =>
  `${publicUrl}/console/sign-in#error=${code}`

const MAX_NEXT_LENGTH = 2_000
const NO_HOST = new URL('https://console.invalid')

/** The path to open after signing in, if it is a page of the console; undefined for anything else. */
export function parseNext(next: string | undefined): string | undefined {
  if (next === undefined || next.length > MAX_NEXT_LENGTH || !next.startsWith('/')) return undefined
  // As browsers read it: without dot segments, and with slashes for backslashes.
  const url = parseUrl(next, NO_HOST)
  const isOwn = url?.host === NO_HOST.host && url.pathname.startsWith('/console/')
  return url && isOwn ? url.pathname + url.search : undefined
}
