/**
 * Whose request it is: two reads by key, both consistent, never an index. A key that was revoked
 * and a site that was suspended are seen by the very next request.
 */
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { ifLive, isoNow } from '../expiry.ts'
import { type ApiKey, ApiKeyItem, apiKeyKey } from '../items/api-key.ts'
import { NonceItem, nonceKey, type SignedMoment } from '../items/nonce.ts'
import { type Site, SiteItem, siteKey } from '../items/site.ts'
import { SiteIdItem, siteIdKey } from '../items/site-names.ts'
import { lifetimes } from '../lifetimes.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'
import { written } from '@strongroom/kit/written'

export interface KnownKey {
  site: Site
  key: ApiKey
}

export function createAuthentication({ db, clock }: StoreDeps) {
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const siteIds = entity(db, formBridgeTable, SiteIdItem)
  const sites = entity(db, formBridgeTable, SiteItem)
  const nonces = entity(db, formBridgeTable, NonceItem)

  return {
    /** The site of an API key, whatever its status: what a suspended one may do is a rule. */
    async siteOfApiKey(api_key_hash: string): Promise<KnownKey | undefined> {
      const key = await apiKeys.get(apiKeyKey(api_key_hash)).then(ifLive(clock))
      const site = key && (await sites.get(siteKey(key)))
      if (!site || key.key_version < site.oldest_key_version) return undefined
      return { site, key }
    },

    /** The site that a signed request names, whatever its status. */
    async siteOfId(site_id: string): Promise<Site | undefined> {
      const named = await siteIds.get(siteIdKey(site_id))
      return named && sites.get(siteKey(named))
    },

    /** Remembers the nonce of a signed request; false if it was used before. */
    useNonce(moment: SignedMoment): Promise<boolean> {
      return written(
        nonces.put(
          { ...nonceKey(moment), ttl: moment.timestamp + lifetimes.nonce },
          expr`attribute_not_exists(${nonces.attr('PK')})`,
        ),
      )
    },

    /** Notes that a key was used; false if there is no such key. Not needed at every request. */
    touchApiKey(api_key_hash: string): Promise<boolean> {
      const { attr } = apiKeys
      return written(
        apiKeys.update(
          apiKeyKey(api_key_hash),
          expr`SET ${attr('last_used')} = ${isoNow(clock)}`,
          expr`attribute_exists(${attr('PK')})`,
        ),
      )
    },
  }
}
