/** All parts of the store on one Db and one clock. */
import { createAbusePatterns } from './abuse-patterns.ts'
import { createAgencies } from './agencies.ts'
import { createAuthentication } from './authentication.ts'
import { createConnections } from './connections.ts'
import type { StoreDeps } from './deps.ts'
import { createJoinTokens } from './join-tokens.ts'
import { createPlaces } from './places.ts'
import { createRates } from './rates.ts'
import { createRegistrations } from './registrations.ts'
import { createReleases } from './releases.ts'
import { createRotation } from './rotation.ts'
import { createSecurityEvents } from './security-events.ts'
import { createSites } from './sites.ts'
import { createUpdateChecks } from './update-checks.ts'
import { createValidations } from './validations.ts'
import { createVersionCache } from './version-cache.ts'

export type DataLayer = ReturnType<typeof createDataLayer>

export function createDataLayer(deps: StoreDeps) {
  return {
    abusePatterns: createAbusePatterns(deps),
    agencies: createAgencies(deps),
    authentication: createAuthentication(deps),
    connections: createConnections(deps),
    joinTokens: createJoinTokens(deps),
    places: createPlaces(deps),
    rates: createRates(deps),
    registrations: createRegistrations(deps),
    releases: createReleases(deps),
    rotation: createRotation(deps),
    securityEvents: createSecurityEvents(deps),
    sites: createSites(deps),
    updateChecks: createUpdateChecks(deps),
    validations: createValidations(deps),
    versionCache: createVersionCache(deps),
  }
}
