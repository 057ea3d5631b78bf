/**
 * Tokens in download links, each for one site and one version. They are valid for a day, because
 * WordPress keeps a link for twelve hours before it uses it.
 */
import { createHmac } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'
import { timingSafeEquals } from '@strongroom/kit/timing-safe-equals'
import type { ReleaseName } from '../releases/item.ts'

const SECRET = 'form-bridge-downloads'
const LIFETIME_SECONDS = 86_400

export type DownloadTokens = ReturnType<typeof createDownloadTokens>

export function createDownloadTokens({ secrets, clock }: { secrets: ServerSecrets; clock: Clock }) {
  return {
    async sign(site_id: string, release: ReleaseName): Promise<string> {
      const expires = epochSeconds(clock) + LIFETIME_SECONDS
      const { key } = await secrets.current(SECRET)
      return `${expires}.${site_id}.${tokenMac(key, site_id, release, expires)}`
    },

    /** Returns the site id; undefined if the token is invalid, expired or for another release. */
    async verify(token: string, release: ReleaseName): Promise<string | undefined> {
      const [, digits = '', site_id = '', mac = ''] =
        /^([1-9]\d{9})\.(site_[A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
      const expires = Number(digits)
      if (site_id === '' || expires <= epochSeconds(clock)) return undefined
      const keys = await secrets.accepted(SECRET)
      const isValid = keys.some(({ key }) =>
        timingSafeEquals(mac, tokenMac(key, site_id, release, expires)),
      )
      return isValid ? site_id : undefined
    },
  }
}

function tokenMac(
  key: Uint8Array,
  site_id: string,
  { slug, version }: ReleaseName,
  expires: number,
): string {
  const text = ['download', site_id, slug, version, expires].join('\n')
  return createHmac('sha256', key).update(text).digest('base64url')
}
