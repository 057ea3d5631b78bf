/** Addresses of the service itself, for people and for providers. */
import type { Context } from 'hono'

/**
 * What stands before `/v1/…` in the address of a request: where the service is reached, and where it
 * is mounted there. Never the Host header, which is whatever the client wrote.
 */
export function baseOf(c: Context, publicUrl: string): string {
  const { path } = c.req
  return publicUrl + path.slice(0, path.indexOf('/v1/'))
}

/** Tickets stand behind the #, which browsers send to nobody. */
export const signUpPage = (base: string, invite: string) => `${base}/sign-up#invite=${invite}`
export const resetPage = (base: string, ticket: string) => `${base}/reset-password#ticket=${ticket}`
/** The page finds out who is signed in by asking for an access token. */
export const signedInPage = (base: string) => `${base}/`
export const signInFailedPage = (base: string, code: string) => `${base}/sign-in#error=${code}`
