/** All stores on one Db and one clock, and functions that create sites and agencies. */
import { createHash, randomUUID } from 'node:crypto'
import type { Db, Item } from '@strongroom/kit/db'
import { entity } from '@strongroom/kit/entity'
import { expr } from '@strongroom/kit/expression'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { transactParts } from '@strongroom/kit/transact'
import { newAgencyId } from '../../src/agencies/item.ts'
import { joinParts, type JoinRefusal, type NewMembership } from '../../src/agencies/membership.ts'
import { newSiteId, type Site, SiteItem, type SiteName } from '../../src/sites/item.ts'
import { createStores } from '../../src/stores.ts'
import { formBridgeTable } from '../../src/tables.ts'

export { times } from '@strongroom/kit/testing/test-timers'

/** 2100-01-01T00:00:00Z, where test clocks start. */
export const START = 4_102_444_800
export const START_ISO = '2100-01-01T00:00:00.000Z'

export const hash = (text: string) => createHash('sha256').update(text).digest('hex')
export const newHash = () => hash(randomUUID())
export const newDomain = () => `${randomUUID().slice(0, 13)}.example.com`
export const newKeys = () => ({
  api_key_hash: newHash(),
  webhook_secret: `AgR4${randomUUID()}`,
})

/** `calm` is a store without failures, which sets up tests on a hostile store. */
export function createTestStores(db: Db, clock = testClock(), calm = db) {
  const deps = { db, clock }
  const calmStores = createStores({ db: calm, clock })

  const register = (domain = newDomain(), temp_key = newHash()) =>
    calmStores.registrations.create({
      domain,
      temp_key,
      wp_version: '6.8.12',
      plugin_version: '1.0.0',
      client_ip: '203.0.113.7',
    })
  const newSite = () => ({ site_id: newSiteId(), rate_limit_remaining: 100, ...newKeys() })

  return {
    db,
    clock,
    ...createStores(deps),

    register,
    newSite,

    async connectedSite(domain = newDomain()): Promise<Site> {
      const result = await calmStores.credentials.connect(await register(domain), newSite())
      if (result.kind === 'refused') throw new Error(`Refused: ${result.reason}`)
      return result.site
    },

    async agency(max_sites = 5) {
      const result = await calmStores.agencies.create({
        agency_id: newAgencyId(),
        agency_name: 'Nine Sites Ltd',
        contact_email: 'office@nine-sites.example',
        max_sites,
        api_key_hash: newHash(),
      })
      if (result.kind === 'conflict') throw new Error('The agency exists')
      return result.agency
    },

    joinToken: (agency_id: string, max_uses: number) =>
      calmStores.joinTokens.create(
        { agency_id, token_hash: newHash(), role: 'member', max_uses },
        3600,
      ),

    /** Creates a membership without the exchange that it is part of. */
    async joinAgency(
      membership: SiteName & NewMembership,
    ): Promise<{ kind: 'joined' } | { kind: 'refused'; reason: JoinRefusal | undefined }> {
      const { site_id, domain, ...fields } = membership
      const { parts, refusal } = joinParts(deps, { site_id, domain }, fields)
      const result = await transactParts(db, parts)
      if (result.kind === 'done') return { kind: 'joined' }
      return { kind: 'refused', reason: refusal(result.by) }
    },

    /** Every site that a domain has had, including disabled ones. */
    async listSitesOfDomain(domain: string): Promise<Site[]> {
      const sites = entity(db, formBridgeTable, SiteItem)
      const { items } = await sites.query({
        key: expr`${sites.attr('PK')} = ${`SITE#${domain}`} AND begins_with(${sites.attr('SK')}, ${'CREDS#'})`,
      })
      return items
    },

    /** The stored item. */
    async raw(PK: string, SK: string): Promise<Item | undefined> {
      const TableName = formBridgeTable.name
      const { Item: stored } = await db.getItem({
        TableName,
        Key: { PK, SK },
        ConsistentRead: true,
      })
      return stored
    },
  }
}

export type TestStores = ReturnType<typeof createTestStores>
