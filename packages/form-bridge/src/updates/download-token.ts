/**
 * Links to packages: good for a day, because WordPress keeps a link for twelve hours before it uses
 * it; for one site and one version. Whether the site is still active is decided when it is used.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import type { ServerSecrets } from '@strongroom/kit/server-secrets'

const SECRET = 'form-bridge-downloads'
const LIFETIME_SECONDS = 86_400

export interface Downloadable {
  slug: string
  version: string
}

export type DownloadTokens = ReturnType<typeof createDownloadTokens>

export function createDownloadTokens({ secrets, clock }: { secrets: ServerSecrets; clock: Clock }) {
  return {
    async make(site_id: string, what: Downloadable): Promise<string> {
      const expires = epochSeconds(clock) + LIFETIME_SECONDS
      const { key } = await secrets.current(SECRET)
      return `${expires}.${site_id}.${macOf(key, site_id, what, expires)}`
    },

    /** The site that a token is for; undefined if it is wrong, for something else, or too old. */
    async siteOf(token: string, what: Downloadable): Promise<string | undefined> {
      const [, digits = '', site_id = '', mac = ''] =
        /^([1-9]\d{9})\.(site_[A-Za-z0-9_-]{16})\.([A-Za-z0-9_-]{43})$/.exec(token) ?? []
      const expires = Number(digits)
      if (site_id === '' || expires <= epochSeconds(clock)) return undefined
      const given = Buffer.from(mac)
      const keys = await secrets.accepted(SECRET)
      const isRight = keys.some(({ key }) =>
        timingSafeEqual(given, Buffer.from(macOf(key, site_id, what, expires))),
      )
      return isRight ? site_id : undefined
    },
  }
}

function macOf(key: Uint8Array, site_id: string, { slug, version }: Downloadable, expires: number) {
  const text = ['download', site_id, slug, version, expires].join('\n')
  return createHmac('sha256', key).update(text).digest('base64url')
}
