/** What a site does with itself: its keys, its state, its end. */
import type { Clock } from '@strongroom/kit/clock'
import { formBridgeError } from '../errors.ts'
import { endingAfter } from '../expiry.ts'
import type { Site, SiteEnvironment } from '../items/site.ts'
import { hashOf, newKey, newWebhookSecret } from '../keys/key-text.ts'
import type { KeptSecrets } from '../keys/kept-secrets.ts'
import type { createPlaces } from '../store/places.ts'
import type { createRotation } from '../store/rotation.ts'
import type { createSites } from '../store/sites.ts'
import type { Latest } from '../updates/latest.ts'

export interface Heartbeat {
  wp_version?: string | undefined
  php_version?: string | undefined
  environment?: SiteEnvironment | undefined
  telemetry: boolean
}

/** The plugin that asks, whose newest version is worth knowing. */
const OWN_PLUGIN = 'form-bridge'

export type SiteAffairs = ReturnType<typeof createSiteAffairs>

export function createSiteAffairs(deps: {
  clock: Clock
  sites: Pick<ReturnType<typeof createSites>, 'noteState' | 'disable'>
  places: Pick<ReturnType<typeof createPlaces>, 'of'>
  rotation: ReturnType<typeof createRotation>
  kept: Pick<KeptSecrets, 'sealWebhookSecret'>
  latest: Pick<Latest, 'newestVersion'>
}) {
  const { clock, sites, places, rotation, kept, latest } = deps

  return {
    async agencyOf({ site_id }: Site): Promise<string | null> {
      const [place] = await places.of(site_id)
      return place?.agency_id ?? null
    },

    /** Returns the newest version of the plugin. */
    async heard(site: Site, { wp_version, php_version, environment, telemetry }: Heartbeat) {
      await sites.noteState(site, {
        environment: environment ?? site.environment ?? 'production',
        telemetry: telemetry
          ? { ...(wp_version && { wp_version }), ...(php_version && { php_version }) }
          : undefined,
      })
      return latest.newestVersion(OWN_PLUGIN)
    },

    async rotate(site: Site, graceSeconds: number) {
      const [api_key, webhook_secret] = [newKey('live'), newWebhookSecret()]
      const sealed = await kept.sealWebhookSecret(site.site_id, webhook_secret)
      const keys = { api_key_hash: hashOf(api_key), webhook_secret: sealed }
      const previous_valid_until = graceSeconds > 0 ? endingAfter(clock, graceSeconds).iso : null
      if (!(await rotation.rotate(site, keys, graceSeconds))) {
        throw formBridgeError('changed_meanwhile')
      }
      return { api_key, webhook_secret, key_version: site.key_version + 1, previous_valid_until }
    },

    async disconnect(site: Site): Promise<void> {
      if (!(await sites.disable(site))) throw formBridgeError('site_disabled')
    },
  }
}
