/** What every change of a site's keys is made of. */
import type { TransactWriteItem } from '@strongroom/kit/db'
import { type Entity, entity } from '@strongroom/kit/entity'
import { expr, type Expression } from '@strongroom/kit/expression'
import { isoNow } from '../expiry.ts'
import { ApiKeyItem, apiKeyKey } from '../items/api-key.ts'
import type { Site, SiteName } from '../items/site.ts'
import { formBridgeTable } from '../table.ts'
import type { StoreDeps } from './deps.ts'

export interface NewKeys {
  api_key_hash: string
  /** Sealed by the key store. */
  webhook_secret: string
}

/** The lookup item of a new key. */
export function apiKeyParts({ db, clock }: StoreDeps) {
  const apiKeys = entity(db, formBridgeTable, ApiKeyItem)
  return {
    part(
      { site_id, domain }: SiteName,
      api_key_hash: string,
      key_version: number,
    ): TransactWriteItem {
      const now = isoNow(clock)
      return apiKeys.part.put(
        {
          ...apiKeyKey(api_key_hash),
          GSI1PK: `SITE#${site_id}`,
          GSI1SK: 'API_KEY',
          site_id,
          domain,
          created_at: now,
          last_used: now,
          key_version,
        },
        expr`attribute_not_exists(${apiKeys.attr('PK')})`,
      )
    },
  }
}

/** The site has the keys with which it was read, and is active. */
export function isUnchanged({ attr }: Entity<Site, unknown>, { key_version }: Site): Expression {
  return expr`${attr('key_version')} = ${key_version} AND ${attr('status')} = ${'active'}`
}
