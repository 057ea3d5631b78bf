/**
 * Binds an installation to the browser that started it. The state that Slack returns must be in a cookie
 * of the same browser, signed by this server for the same app: nobody can make another person's
 * browser finish an installation that they started, nor finish it for another app.
 */
import { createHmac } from 'node:crypto'
import { randomToken } from '@strongroom/kit/ids'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'

export const STATE_SECONDS = 600
const SECRET = 'two-key-installation'
const COOKIE = /^(\d{1,12})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/

export interface InstallationStates {
  /** The state for Slack, and the value of the browser's cookie. */
  create(app: string): Promise<{ state: string; cookie: string }>
  /** Whether the state is that of the cookie, for this app, and not too old. */
  verify(app: string, state: string, cookie: string): Promise<boolean>
}

export function createInstallationStates(deps: {
  secrets: ServerSecrets
  clock: Clock
}): InstallationStates {
  const { secrets, clock } = deps

  return {
    async create(app) {
      const { key } = await secrets.current(SECRET)
      const state = randomToken(32)
      const expiresAt = String(epochSeconds(clock) + STATE_SECONDS)
      return { state, cookie: `${expiresAt}.${state}.${sign(key, app, expiresAt, state)}` }
    },

    async verify(app, state, cookie) {
      const [, expiresAt = '', expected = '', mac = ''] = COOKIE.exec(cookie) ?? []
      if (expected === '' || !timingSafeEquals(state, expected)) return false
      const left = Number(expiresAt) - epochSeconds(clock)
      // One from the future was signed with a wrong clock.
      if (left <= 0 || left > STATE_SECONDS) return false
      const keys = await secrets.accepted(SECRET)
      return keys.some(({ key }) => timingSafeEquals(mac, sign(key, app, expiresAt, state)))
    },
  }
}

function sign(key: Uint8Array, app: string, expiresAt: string, state: string): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([app, expiresAt, state]))
    .digest('base64url')
}
