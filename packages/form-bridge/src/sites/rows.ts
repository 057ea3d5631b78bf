/** What the list of sites shows of each: read in batches, without secrets and hashes. */
import type { Item } from '@strongroom/kit/db'
import { ItemMismatch } from '@strongroom/kit/db-errors'
import type * as z from 'zod'
import { formBridgeTable, type StoreDeps } from '../tables.ts'
import { isUnexpired } from '../time.ts'
import { SiteVersionItem, siteVersionKey } from '../updates/item.ts'
import { SiteIdItem, siteIdKey, SiteItem, siteKey, type SiteName } from './item.ts'

const SitePart = SiteItem.pick({
  site_id: true,
  domain: true,
  status: true,
  created_at: true,
  last_seen: true,
  environment: true,
  unconfirmed_since: true,
})
const NamePart = SiteIdItem.pick({ site_id: true, domain: true })
const VersionPart = SiteVersionItem.pick({ site_id: true, current_version: true, ttl: true })

export type SiteRow = z.infer<typeof SitePart> & { installed_version: string | undefined }

/** DynamoDB's limit. */
const MAX_BATCH_KEYS = 100

export function createSiteRows({ db, clock }: StoreDeps) {
  /** Only the attributes of the schema. Missing items are left out. */
  async function readParts<Schema extends z.ZodObject>(
    keys: ReadonlyMap<string, Item>,
    schema: Schema,
  ): Promise<z.infer<Schema>[]> {
    const names = Object.keys(schema.shape)
    const placeholders = names.map((_, at) => `#${at}`)
    const found: z.infer<Schema>[] = []
    const all = [...keys.values()]
    for (let at = 0; at < all.length; at += MAX_BATCH_KEYS) {
      const { Responses } = await db.batchGetItem({
        RequestItems: {
          [formBridgeTable.name]: {
            Keys: all.slice(at, at + MAX_BATCH_KEYS),
            ConsistentRead: true,
            ProjectionExpression: placeholders.join(', '),
            ExpressionAttributeNames: Object.fromEntries(
              placeholders.map((placeholder, index) => [placeholder, names[index] ?? '']),
            ),
          },
        },
      })
      for (const item of Responses?.[formBridgeTable.name] ?? []) {
        const result = schema.safeParse(item)
        if (!result.success) throw new ItemMismatch(formBridgeTable, item, 'read', result.error)
        found.push(result.data)
      }
    }
    return found
  }

  return {
    /** The current domain of each site. */
    async locate(site_ids: readonly string[]): Promise<Map<string, string>> {
      const keys = new Map(site_ids.map((site_id) => [site_id, siteIdKey(site_id)]))
      const found = await readParts(keys, NamePart)
      return new Map(found.map(({ site_id, domain }) => [site_id, domain]))
    },

    /** In no useful order. */
    async read(names: readonly SiteName[]): Promise<SiteRow[]> {
      // A batch with the same key twice is refused.
      const siteKeys = new Map(
        names.map((name) => [`${name.domain} ${name.site_id}`, siteKey(name)]),
      )
      const versionKeys = new Map(names.map(({ site_id }) => [site_id, siteVersionKey(site_id)]))
      const [sites, versions] = await Promise.all([
        readParts(siteKeys, SitePart),
        readParts(versionKeys, VersionPart),
      ])
      const versionOf = new Map(
        versions
          .filter((version) => isUnexpired(version, clock))
          .map(({ site_id, current_version }) => [site_id, current_version]),
      )
      return sites.map((site) => ({ ...site, installed_version: versionOf.get(site.site_id) }))
    },
  }
}
