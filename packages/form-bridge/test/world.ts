/** All parts of the store on one Db and one clock, and sites and agencies to try them with. */
import { createHash, randomUUID } from 'node:crypto'
import type { Db, Item } from '@strongroom/kit/db'
import { testClock } from '@strongroom/kit/testing/test-clock'
import { newAgencyId } from '../src/items/agency.ts'
import { newSiteId } from '../src/items/site.ts'
import { createAbusePatterns } from '../src/store/abuse-patterns.ts'
import { createAgencies } from '../src/store/agencies.ts'
import { createAuthentication } from '../src/store/authentication.ts'
import { createConnections } from '../src/store/connections.ts'
import { createJoinTokens } from '../src/store/join-tokens.ts'
import { createPlaces } from '../src/store/places.ts'
import { createRates } from '../src/store/rates.ts'
import { createRegistrations } from '../src/store/registrations.ts'
import { createReleases } from '../src/store/releases.ts'
import { createRotation } from '../src/store/rotation.ts'
import { createSecurityEvents } from '../src/store/security-events.ts'
import { createSites } from '../src/store/sites.ts'
import { createUpdateChecks } from '../src/store/update-checks.ts'
import { createValidations } from '../src/store/validations.ts'
import { createVersionCache } from '../src/store/version-cache.ts'
import { formBridgeTable } from '../src/table.ts'

export { times } from '@strongroom/kit/testing/times'

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

/** `calm` is where sites and agencies are made that a test begins with, on a store that is hostile. */
export function createWorld(db: Db, clock = testClock(), calm = db) {
  const deps = { db, clock }
  const calmDeps = { db: calm, clock }

  const calmRegistrations = createRegistrations(calmDeps)
  const register = (domain = newDomain(), temp_key = newHash()) =>
    calmRegistrations.create({
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
    registrations: createRegistrations(deps),
    connections: createConnections(deps),
    agencies: createAgencies(deps),
    places: createPlaces(deps),
    rotation: createRotation(deps),
    sites: createSites(deps),
    authentication: createAuthentication(deps),
    rates: createRates(deps),
    validations: createValidations(deps),
    versionCache: createVersionCache(deps),
    releases: createReleases(deps),
    updateChecks: createUpdateChecks(deps),
    securityEvents: createSecurityEvents(deps),
    abusePatterns: createAbusePatterns(deps),
    joinTokens: createJoinTokens(deps),

    register,
    newSite,

    async connectedSite(domain = newDomain()) {
      const { connect } = createConnections(calmDeps)
      const connected = await connect(await register(domain), newSite())
      if (!connected.connected) throw new Error(`Refused: ${connected.refused}`)
      return connected.site
    },

    async agency(max_sites = 5) {
      const agency = await createAgencies(calmDeps).create({
        agency_id: newAgencyId(),
        agency_name: 'Nine Sites Ltd',
        contact_email: 'office@nine-sites.example',
        max_sites,
        api_key_hash: newHash(),
      })
      if (!agency) throw new Error('There is an agency of this id')
      return agency
    },

    joinToken: (agency_id: string, max_uses: number) =>
      createJoinTokens(calmDeps).create(
        { agency_id, token_hash: newHash(), role: 'member', max_uses },
        3600,
      ),

    /** An item as the store has it. */
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

export type World = ReturnType<typeof createWorld>
