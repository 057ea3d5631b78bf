/** Puts the service together. */
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { createSiteDesk } from './administration/site-desk.ts'
import { createAgencyDesk } from './agencies/agency-desk.ts'
import { createPager } from './api/cursors.ts'
import { createPermissions } from './api/permissions.ts'
import { formBridgeRoutes } from './api/routes.ts'
import { createAuthenticate } from './auth/authenticate.ts'
import { createSiteGuard } from './auth/site-guard.ts'
import { createConnect } from './handshake/connect.ts'
import { type Dns, systemDns } from './handshake/dns.ts'
import { createExchange } from './handshake/exchange.ts'
import { createProofBudget } from './handshake/proof-budget.ts'
import { createProve } from './handshake/prove.ts'
import { createRegister } from './handshake/register.ts'
import { createVerifying } from './handshake/verifying.ts'
import { createWays } from './handshake/ways.ts'
import { createKeptSecrets } from './keys/kept-secrets.ts'
import { createCallers } from './limits/client-ids.ts'
import { generalLimits } from './limits/general-limits.ts'
import { createRateGuard } from './limits/guard.ts'
import { createUsage } from './limits/usage.ts'
import { createPublish } from './releases/publish.ts'
import { createAbuseWatch } from './security/abuse.ts'
import { createJournal } from './security/journal.ts'
import type { FormBridgeNeeds } from './service-definition.ts'
import { destinationPolicy, sitePolicy } from './settings.ts'
import { createSiteAffairs } from './sites/site-affairs.ts'
import { createDataLayer } from './store/data-layer.ts'
import { createDeliver } from './submissions/deliver.ts'
import { destinationSealer, generalDestination } from './submissions/destination.ts'
import { createDownloadTokens } from './updates/download-token.ts'
import { createLatest } from './updates/latest.ts'
import { createUpdateCheck } from './updates/update-check.ts'
import { createValidate } from './validation/validate.ts'

export interface StartOptions {
  /** Tests have records of their own. */
  dns?: Dns
}

export function startFormBridge(
  deps: ServiceDeps & FormBridgeNeeds,
  { dns = systemDns() }: StartOptions = {},
): RunningService {
  const { clock, log, metrics, secrets, config, publicUrl } = deps
  const layer = createDataLayer(deps)
  const { authentication, sites, places, releases, updateChecks: checks } = layer
  const siteFetch = createSafeFetch(sitePolicy(config))
  // Looks at pages and sends nothing secret, so it also sees whether http is answered.
  const looking = createSafeFetch({ ...sitePolicy(config), allowHttp: true })
  const destinationFetch = createSafeFetch(destinationPolicy(config))

  const kept = createKeptSecrets(deps.secretBox)
  const callers = createCallers(secrets)
  const general = generalLimits(config)
  const abuse = createAbuseWatch({ clock, log, patterns: layer.abusePatterns })
  const guard = createRateGuard({
    clock,
    rates: layer.rates,
    general,
    isSlowed: async (subject) =>
      'site_id' in subject
        ? abuse.isSlowed(subject.site_id, 'api_abuse')
        : 'client_ip' in subject && abuse.isSlowed(subject.client_ip, 'registration_spam'),
  })
  const journal = createJournal({ clock, log, metrics, events: layer.securityEvents })
  const usage = createUsage({ clock, rates: layer.rates, sites, authentication })
  const watched = { guard, abuse, journal }

  const authenticate = createAuthenticate({ clock, authentication, kept })
  const siteGuard = createSiteGuard({ ...watched, authenticate, authentication, callers, usage })
  const siteDesk = createSiteDesk({ sites, authentication, places, checks })
  const agencyDesk = createAgencyDesk(layer)
  const register = createRegister({
    ...layer,
    ...watched,
    fetch: siteFetch,
    allowHttp: config.FORM_BRIDGE_ALLOW_HTTP,
  })
  const verifying = createVerifying({ log })
  const budget = createProofBudget(watched)
  const connect = createConnect({ ...layer, kept, journal, firstRemaining: general.api[0].limit })
  const exchange = createExchange({
    ...watched,
    clock,
    registrations: layer.registrations,
    addressOf: register.addressOf,
    budget,
    prove: createProve(createWays({ fetch: siteFetch, dns })),
    verifying,
    connect,
  })
  const latest = createLatest({ clock, releases, cache: layer.versionCache })
  const tokens = createDownloadTokens({ secrets, clock })
  const operators = createOperators(deps)

  const routes = formBridgeRoutes({
    guard,
    clock,
    permit: createPermissions({ siteGuard, agencyDesk, guard, operators }),
    layer,
    pager: createPager(secrets),
    callers,
    siteGuard,
    register,
    exchange,
    budget,
    validate: createValidate({ ...layer, fetch: looking, dns, patterns: layer.abusePatterns }),
    siteAffairs: createSiteAffairs({ ...layer, clock, kept, latest }),
    siteDesk,
    agencyDesk,
    deliver: createDeliver({
      clock,
      fetch: destinationFetch,
      kept,
      general: generalDestination(config),
    }),
    sealDestination: destinationSealer({ fetch: destinationFetch, kept }),
    latest,
    updateCheck: createUpdateCheck({ latest, tokens, checks }),
    tokens,
    publish: createPublish({ releases, latest, releaseKeys: config.FORM_BRIDGE_RELEASE_KEYS }),
    // Never the Host header, which is whatever the client wrote.
    baseOf: ({ req: { path } }) => `${publicUrl}${path.slice(0, path.indexOf('/v1/'))}/v1`,
  })

  return {
    routes,
    async close() {
      await verifying.settle()
      await usage.flush()
      await Promise.all([siteFetch.close(), looking.close(), destinationFetch.close()])
    },
  }
}
