/** How a site changes its own keys. */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { endingAfter } from '../expiry.ts'
import { ApiKeyItem, apiKeyKey } from '../items/api-key.ts'
import { type Site, SiteItem, siteKey } from '../items/site.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'
import { apiKeyParts, isUnchanged, type NewKeys } from './new-keys.ts'
import { requireFit } from './require-fit.ts'
import { settle } from './settle.ts'

export function createRotation({ db, clock }: StoreDeps) {
  const sites = entity(db, formBridgeTable, SiteItem)
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const newKeys = apiKeyParts({ db, clock })
  const { attr } = sites

  /** The old key and the old secret are good for a while longer. */
  function withGrace(site: Site, graceSeconds: number) {
    const { ttl, iso } = endingAfter(clock, graceSeconds)
    requireFit(ApiKeyItem, apiKeyKey(site.api_key_hash), { ttl })
    return {
      sets: expr`${attr('previous_webhook_secret')} = ${site.webhook_secret}, ${attr('previous_valid_until')} = ${iso}`,
      oldKey: apiKeys.part.update(
        apiKeyKey(site.api_key_hash),
        expr`SET ${apiKeys.attr('expires_at')} = ${iso}, ${apiKeys.attr('ttl')} = ${ttl}`,
        expr`attribute_exists(${apiKeys.attr('PK')})`,
      ),
    }
  }

  /** All old keys end now, those among them that were in a grace period. */
  function atOnce(site: Site, key_version: number) {
    return {
      sets: expr`${attr('oldest_key_version')} = ${key_version} REMOVE ${attr('previous_webhook_secret')}, ${attr('previous_valid_until')}`,
      oldKey: apiKeys.part.delete(apiKeyKey(site.api_key_hash)),
    }
  }

  return {
    /** Returns false if the site's keys or status have changed since it was read. */
    async rotate(site: Site, keys: NewKeys, graceSeconds: number): Promise<boolean> {
      requireFit(SiteItem, siteKey(site), keys)
      const key_version = site.key_version + 1
      const { sets, oldKey } =
        graceSeconds > 0 ? withGrace(site, graceSeconds) : atOnce(site, key_version)
      const refusal = await settle(db, {
        site: sites.part.update(
          siteKey(site),
          expr`SET ${attr('api_key_hash')} = ${keys.api_key_hash}, ${attr('webhook_secret')} = ${keys.webhook_secret}, ${attr('key_version')} = ${key_version}, ${sets}`,
          isUnchanged(sites, site),
        ),
        oldKey,
        apiKey: newKeys.part(site, keys.api_key_hash, key_version),
      })
      return refusal === undefined
    },
  }
}
