/** Every store, on one Db and one clock. */
import { createMemberships } from './agencies/membership.ts'
import { createAgencyStore, createJoinTokenStore } from './agencies/store.ts'
import { createAuthenticationStore } from './authentication/store.ts'
import { createSiteMoves } from './credentials/move.ts'
import { createCredentialStore } from './credentials/store.ts'
import { createRateStore } from './limits/store.ts'
import { createRegistrationStore } from './registrations/store.ts'
import { createVersionCache } from './releases/latest.ts'
import { createReleaseStore } from './releases/store.ts'
import { createAbuseStore } from './security/abuse-store.ts'
import { createSecurityEventStore } from './security/event-store.ts'
import { createSiteList } from './sites/list.ts'
import { createSiteStore } from './sites/store.ts'
import type { StoreDeps } from './tables.ts'
import { createUpdateCheckStore } from './updates/store.ts'
import { createValidationStore } from './validations/store.ts'

export type Stores = ReturnType<typeof createStores>

export function createStores(deps: StoreDeps) {
  return {
    abusePatterns: createAbuseStore(deps),
    agencies: createAgencyStore(deps),
    authentication: createAuthenticationStore(deps),
    credentials: createCredentialStore(deps),
    joinTokens: createJoinTokenStore(deps),
    memberships: createMemberships(deps),
    rates: createRateStore(deps),
    registrations: createRegistrationStore(deps),
    releases: createReleaseStore(deps),
    securityEvents: createSecurityEventStore(deps),
    siteList: createSiteList(deps),
    siteMoves: createSiteMoves(deps),
    sites: createSiteStore(deps),
    updateChecks: createUpdateCheckStore(deps),
    validations: createValidationStore(deps),
    versionCache: createVersionCache(deps),
  }
}
