/**
 * The session of a Ferryhook user. The refresh token is in a cookie that scripts cannot read; the access
 * token is only in memory and is replaced shortly before it expires.
 */
import { signal } from '@preact/signals'
import type { z } from 'zod'
import type { UserView } from '@strongroom/ferryhook/accounts/users/view'
import { servicePath } from './service-path.ts'

export type User = z.infer<typeof UserView>

/** What signing in, signing up and refreshing return. */
export interface SessionResponse {
  accessToken: string
  expiresIn: number
  user: User
}

/** The signed-in user; undefined if nobody is signed in. */
export const user = signal<User | undefined>(undefined)

const RENEW_BEFORE_MS = 30_000

let access: { token: string; expiresAt: number } | undefined
let renewal: Promise<boolean> | undefined

export function adoptSession({ accessToken, expiresIn, user: signedIn }: SessionResponse): void {
  access = { token: accessToken, expiresAt: Date.now() + expiresIn * 1000 }
  user.value = signedIn
}

export function forgetSession(): void {
  access = undefined
  user.value = undefined
}

export async function userToken(): Promise<string | undefined> {
  if (access && access.expiresAt - Date.now() < RENEW_BEFORE_MS) await renewUserToken(access.token)
  return access?.token
}

/** True if there is a new token. Requests that fail together share one renewal. */
export async function renewUserToken(failed: string | undefined): Promise<boolean> {
  if (access && access.token !== failed) return true
  renewal ??= renew().finally(() => {
    renewal = undefined
  })
  return renewal
}

async function renew(): Promise<boolean> {
  // A refresh token works once, so only one tab at a time may use it.
  return navigator.locks.request('ferryhook-refresh', async () => {
    const response = await fetch(servicePath('/ferryhook/v1/auth/refresh'), {
      method: 'POST',
    }).catch(() => undefined)
    // Not reached: the old token may still work, and the request itself reports the failure.
    if (!response || response.status >= 500) return false
    if (!response.ok) {
      access = undefined
      return false
    }
    const session = (await response.json()) as SessionResponse
    const before = user.value?.id
    // Another tab signed in somebody else: this page shows what is not theirs.
    if (before !== undefined && before !== session.user.id) {
      forgetSession()
      location.assign('/console/')
      return false
    }
    adoptSession(session)
    return true
  })
}
