/** Creates the parts of the service and connects them. */
import { createPager } from '@strongroom/kit/cursor'
import { createAuditLog } from '@strongroom/kit/audit-log'
import { createOperators } from '@strongroom/kit/operators'
import { createSafeFetch } from '@strongroom/kit/safe-fetch'
import type { RunningService, ServiceDeps } from '@strongroom/kit/service'
import { startBackgroundTimer, type StartTimer } from '@strongroom/platform/timers'
import { createAgencyService } from './agencies/service.ts'
import { createAuthenticate, createSiteAuthorization } from './authentication/service.ts'
import { createSiteSecrets } from './credentials/secrets.ts'
import { createCredentialService } from './credentials/service.ts'
import { createIndexService } from './indexes/service.ts'
import { createCallers } from './limits/caller.ts'
import { createRateLimits, defaultLimits } from './limits/service.ts'
import { createUsage } from './limits/usage.ts'
import { type Dns, systemDns } from './proofs/dns.ts'
import { createProofChecks } from './proofs/methods.ts'
import { createProofRunner } from './proofs/runner.ts'
import { createProofService } from './proofs/service.ts'
import { createExchange } from './registrations/exchange.ts'
import { createRegistrationService } from './registrations/service.ts'
import { createLatestRelease } from './releases/latest.ts'
import { createReleaseService } from './releases/service.ts'
import { createAuditedStores } from './audited-stores.ts'
import { createAbuseDetector } from './security/abuse.ts'
import { createSecurityEventLog } from './security/event-log.ts'
import type { FormBridgeDeps } from './service.ts'
import { destinationPolicy, sitePolicy } from './settings.ts'
import { createOperatorSites } from './sites/operator-service.ts'
import { createSiteAdmin, createSiteService } from './sites/service.ts'
import { createStores } from './stores.ts'
import { createEncryptDestination, defaultDestination } from './submissions/destination.ts'
import { createSubmissionService } from './submissions/service.ts'
import { createDownloadTokens } from './updates/download-token.ts'
import { createUpdateService } from './updates/service.ts'
import { createValidationService } from './validations/service.ts'

export interface StartOptions {
  /** Tests have their own records. */
  dns?: Dns
  startTimer?: StartTimer
}

export function startFormBridge(
  deps: ServiceDeps & FormBridgeDeps,
  { dns = systemDns(), startTimer = startBackgroundTimer }: StartOptions = {},
): RunningService {
  const { clock, log, metrics, secrets, config, publicUrl } = deps
  const stores = createStores(deps)
  const siteFetch = createSafeFetch(sitePolicy(config))
  // Sends no secrets, so it may check whether a site responds over http.
  const validationFetch = createSafeFetch({ ...sitePolicy(config), allowHttp: true })
  const destinationFetch = createSafeFetch(destinationPolicy(config))

  const siteSecrets = createSiteSecrets({ box: deps.secretBox, clock: deps.clock })
  const callers = createCallers(secrets)
  const defaults = defaultLimits(config)
  const abuse = createAbuseDetector({ clock, log, abusePatterns: stores.abusePatterns })
  const limits = createRateLimits({
    clock,
    rates: stores.rates,
    defaults,
    isSlowed: async (subject) =>
      'site_id' in subject
        ? abuse.isSlowed(subject.site_id, 'api_abuse')
        : 'client_ip' in subject && abuse.isSlowed(subject.client_ip, 'registration_spam'),
  })
  const events = createSecurityEventLog({
    clock,
    log,
    metrics,
    securityEvents: stores.securityEvents,
  })
  const usage = createUsage({ ...stores, clock, log, startTimer })
  const guards = { limits, abuse, events }

  const authenticate = createAuthenticate({ ...stores, clock, siteSecrets })
  const siteAuthorization = createSiteAuthorization({
    ...stores,
    ...guards,
    authenticate,
    callers,
    usage,
  })
  const agencyService = createAgencyService(stores)
  const sharedDestination = defaultDestination(config)
  const siteAdmin = createSiteAdmin({ ...stores, defaultDestination: sharedDestination })
  const auditLog = createAuditLog(deps)
  const operators = createOperators(deps)

  const registrationService = createRegistrationService({
    ...stores,
    ...guards,
    usage,
    fetch: siteFetch,
    allowHttp: config.FORM_BRIDGE_ALLOW_HTTP,
  })
  const proofRunner = createProofRunner({ log })
  const proofs = createProofService({
    ...guards,
    checks: createProofChecks({ fetch: siteFetch, dns }),
  })
  const credentialService = createCredentialService({
    ...stores,
    siteSecrets,
    events,
    initialRemaining: defaults.api[0].limit,
  })
  const latestRelease = createLatestRelease({ ...stores, clock })

  return {
    async loadRoutes() {
      const { formBridgeRoutes } = await import('./routes.ts')
      const routes = formBridgeRoutes({
        ...stores,
        clock,
        operators,
        pager: createPager(secrets, 'form-bridge-cursors'),
        // Not from the Host header, which the client controls.
        apiUrl: ({ req: { path } }) => `${publicUrl}${path.slice(0, path.indexOf('/v1/'))}/v1`,
        callers,
        limits,
        usage,
        siteAuthorization,
        registrationService,
        proofs,
        exchange: createExchange({
          ...stores,
          clock,
          abuse,
          usage,
          registrationService,
          proofs,
          proofRunner,
          credentialService,
        }),
        validationService: createValidationService({ ...stores, fetch: validationFetch, dns }),
        siteService: createSiteService({ ...stores, siteSecrets, latestRelease }),
        siteAdmin,
        operatorSites: createOperatorSites({ ...stores, clock, siteAdmin, auditLog }),
        indexService: createIndexService({ ...stores, siteAdmin, agencyService }),
        auditedStores: createAuditedStores({ clock, auditLog }),
        agencyService,
        submissionService: createSubmissionService({
          clock,
          fetch: destinationFetch,
          siteSecrets,
          defaultDestination: sharedDestination,
        }),
        defaultDestination: sharedDestination,
        encryptDestination: createEncryptDestination({ fetch: destinationFetch, siteSecrets }),
        releaseService: createReleaseService({
          ...stores,
          latestRelease,
          releaseKeys: config.FORM_BRIDGE_RELEASE_KEYS,
        }),
        updateService: createUpdateService({
          ...stores,
          clock,
          limits,
          latestRelease,
          downloadTokens: createDownloadTokens({ secrets, clock }),
        }),
      })
      return { routes }
    },
    async flush() {
      await proofRunner.idle()
      await Promise.all([usage.flush(), operators.settled()])
    },
    async close() {
      await proofRunner.idle()
      await usage.close()
      await Promise.all([siteFetch.close(), validationFetch.close(), destinationFetch.close()])
    },
  }
}
