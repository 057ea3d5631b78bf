/**
 * Looks up the site of a request with two consistent reads by key. No index is read, so the next
 * request already sees that a key was revoked or a site suspended.
 */
import { conditionHeld } from '@strongroom/kit/db-errors'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import {
  type ApiKey,
  ApiKeyItem,
  apiKeyKey,
  NonceItem,
  nonceKey,
  type NonceUse,
  type Site,
  SiteIdItem,
  siteIdKey,
  SiteItem,
  siteKey,
} from '../sites/item.ts'
import { formBridgeTable, type StoreDeps, TTL_SECONDS } from '../tables.ts'
import { isoNow, unexpired } from '../time.ts'

export interface KnownKey {
  site: Site
  key: ApiKey
}

export type AuthenticationStore = ReturnType<typeof createAuthenticationStore>

export function createAuthenticationStore({ db, clock }: StoreDeps) {
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  const siteIds = entity(db, formBridgeTable, SiteIdItem)
  const sites = entity(db, formBridgeTable, SiteItem)
  const nonces = entity(db, formBridgeTable, NonceItem)

  function getApiKey(api_key_hash: string): Promise<ApiKey | undefined> {
    return apiKeys.get(apiKeyKey(api_key_hash)).then(unexpired(clock))
  }

  return {
    getApiKey,

    /** A site of any status. */
    async findSiteByApiKey(api_key_hash: string): Promise<KnownKey | undefined> {
      const key = await getApiKey(api_key_hash)
      const site = key && (await sites.get(siteKey(key)))
      if (!site || key.key_version < site.oldest_key_version) return undefined
      return { site, key }
    },

    /** A site of any status. */
    async findSiteById(site_id: string): Promise<Site | undefined> {
      const name = await siteIds.get(siteIdKey(site_id))
      return name && sites.get(siteKey(name))
    },

    /** False if the site has used the nonce before. */
    useNonce(use: NonceUse): Promise<boolean> {
      return conditionHeld(
        nonces.put(
          { ...nonceKey(use), ttl: use.timestamp + TTL_SECONDS.nonce },
          expr`attribute_not_exists(${nonces.attr('PK')})`,
        ),
      )
    },

    /** False if there is no such key. */
    recordApiKeyUse(api_key_hash: string): Promise<boolean> {
      const { attr } = apiKeys
      return conditionHeld(
        apiKeys.update(
          apiKeyKey(api_key_hash),
          expr`SET ${attr('last_used')} = ${isoNow(clock)}`,
          expr`attribute_exists(${attr('PK')})`,
        ),
      )
    },
  }
}
